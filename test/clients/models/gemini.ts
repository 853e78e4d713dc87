import { type Args, type Protocol, piecesOf, sendEvents, sendJson, textOf } from './model.ts';

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly response: unknown };
}

/** The protocol with `generateContent` and `streamGenerateContent`, which Gemini models use. */
export const gemini: Protocol = {
  isTurn: (path, body) => /[gG]enerateContent/.test(path) && Array.isArray(body.tools) && body.tools.length > 0,
  read: (body) => {
    const parts = (body.contents as readonly { parts: readonly Part[] }[]).flatMap((content) => content.parts);
    return {
      tools: (body.tools as readonly { functionDeclarations?: readonly { name: string }[] }[]).flatMap((tool) =>
        (tool.functionDeclarations ?? []).map(({ name }) => name),
      ),
      results: parts.flatMap(({ functionResponse }) => (functionResponse ? [textOf(functionResponse.response)] : [])),
      pieces: [(body.systemInstruction as { parts?: unknown } | undefined)?.parts, parts].flatMap(piecesOf),
    };
  },
  answer(response, path, said) {
    if (path.includes('countTokens')) return sendJson(response, { totalTokens: 10 });
    const part: Args = 'tool' in said ? { functionCall: { id: `call_${said.id}`, name: said.tool, args: said.args } } : { text: said.text };
    const answer = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: said.tokens, candidatesTokenCount: 5, totalTokenCount: said.tokens + 5 },
    };
    return path.includes('streamGenerateContent') ? sendEvents(response, [answer], { named: false }) : sendJson(response, answer);
  },
};
