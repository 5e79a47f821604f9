/** A sentence that screen readers read out at once, with a button where trying again may help. */
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
