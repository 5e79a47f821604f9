/** A message that screen readers announce at once, with a retry button if a retry may help. */
export function problemMessage(text: string, retry?: () => void): HTMLElement {
  const element = document.createElement('p')
  element.setAttribute('role', 'alert')
  element.append(`The checkout can’t start: ${text}`)
  if (retry) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Try again'
    button.onclick = retry
    element.append(' ', button)
  }
  return element
}
