// Checks that a browser answers; each is one expression.

({
  /** What a screen reader would have no name for. */
  nameless: () => [...document.querySelectorAll("button, input, textarea, summary, aside, article, ul, [role]")]
    .filter((e) => e.checkVisibility() && !["status", "alert"].includes(e.role))
    .filter((e) => !(e.ariaLabel || e.getAttribute("aria-labelledby") || e.labels?.length || e.textContent.trim()))
    .map((e) => e.outerHTML.slice(0, 80)),

  /** What is wider than the window. */
  wider: () => [...document.querySelectorAll("body, body *")]
    .filter((e) => e.checkVisibility() && !e.closest(".unseen, .skip"))
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || (e === document.body && e.scrollWidth > innerWidth))
    .map((e) => e.outerHTML.slice(0, 80)),

  /** Text of less than 4.5 to 1 against the nearest background that is painted (WCAG 2.2, 1.4.3). */
  faint: () => {
    const rgba = (colour) => {
      const numbers = colour.match(/[\d.]+/g).map(Number);
      return numbers.length > 3 ? numbers : [...numbers, 1];
    };
    const luminance = (colour) => colour.slice(0, 3)
      .map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (e) => {
      for (; e; e = e.parentElement) {
        const colour = rgba(getComputedStyle(e).backgroundColor);
        if (colour[3] === 1) return colour;
      }
      return [255, 255, 255, 1];
    };
    const ratio = (e) => {
      const [text, ground] = [rgba(getComputedStyle(e).color), behind(e)].map(luminance).sort((a, b) => b - a);
      return (text + 0.05) / (ground + 0.05);
    };
    return [...document.querySelectorAll("body *")]
      .filter((e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()))
      .filter((e) => e.checkVisibility() && !e.closest(".unseen, .skip, :disabled"))
      .filter((e) => ratio(e) < 4.5)
      .map((e) => `${e.className || e.tagName} ${ratio(e).toFixed(2)}`);
  },

  /** The shares of each bar's parts. */
  bars: () => [...document.querySelectorAll(".steps .bar")].map((bar) => {
    const width = (e) => e.getBoundingClientRect().width;
    return [...bar.children].map((part) => width(part) / width(bar));
  }),

  /** Which rule a script that is put into the page breaks. */
  injected: () => new Promise((done) => {
    document.addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective));
    const script = document.createElement("script");
    script.textContent = "window.ran = 1";
    document.body.append(script);
  }),
})
