/**
 * The page's content policy forbids inline styles, which means `<style>` elements and `style` attributes that are written as text. The terminal library
 * writes both. While a terminal is open, `document.createElement` is replaced, so that the library's elements apply these styles in a way that the policy
 * allows.
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

/** Creates an element that replaces a `<style>` element. Its text becomes a constructed style sheet, which is removed together with the element. */
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
