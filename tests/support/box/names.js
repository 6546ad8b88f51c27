// Whatever can be pressed or filled in, or is a picture, and has no name that can be read out.
() => [...document.querySelectorAll("button, input, select, a, [role=img], dialog [tabindex='0']")].filter((one) => {
  if (!one.getClientRects().length) return false;
  const labels = one.labels ? [...one.labels].map((label) => label.textContent).join("") : "";
  return !(one.getAttribute("aria-label") || labels || (one.tagName === "INPUT" || one.tagName === "SELECT" ? "" : one.textContent)).trim();
}).map((one) => one.outerHTML.slice(0, 120))
