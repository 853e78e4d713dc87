/**
 * The page's content policy forbids inline styles: `<style>` elements and `style` attributes written as text. The terminal library creates
 * elements and writes both. While a terminal is open, `document.createElement` returns elements that apply such styles in allowed ways.
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
