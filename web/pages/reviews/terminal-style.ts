/**
 * The page's content policy takes no styles from script: neither `<style>` nor a `style` attribute that is written as text. The terminal
 * writes both, into elements that it asks the document for. While one is there, it is given elements that hand on what is written to
 * the browser by the ways that the policy leaves open.
 */
let terminals = 0;

export function styleByRules(): () => void {
  if (terminals++ === 0) document.createElement = create as Document['createElement'];
  return () => {
    if (--terminals === 0) Reflect.deleteProperty(document, 'createElement');
  };
}

function create(name: string, options?: ElementCreationOptions): HTMLElement {
  if (name === 'style') return ruled();
  const element = Document.prototype.createElement.call(document, name, options);
  return name === 'span' ? withStyle(element) : element;
}

/** Replaces a `<style>` element: its text becomes a constructed sheet, which is removed with it. */
function ruled(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  let rules = '';
  Object.defineProperty(element, 'textContent', {
    get: () => rules,
    set(text: string) {
      rules = text;
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

function withStyle(element: HTMLElement): HTMLElement {
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}
