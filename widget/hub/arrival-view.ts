import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { alertBox, button, problemText } from './parts.ts'
import { showSignIn } from './sign-in-view.ts'

/**
 * Asks for one click before the link's token is used: mail scanners load the page and run its script, and would use the
 * link up.
 */
export function showArrival(hub: Hub, token: string): void {
  const { arrival: texts } = hub.texts
  const invalid = (): void => showSignIn(hub, { notice: alertBox('bad', texts.invalid) })
  if (token === '') return invalid()
  const open = hub.session.read()
  const problem = el('div', {})
  const stage = hub.show(
    texts.title,
    el('p', {}, texts.lead),
    open !== undefined &&
      alertBox('note', texts.replaces(open.contact), ' ', el('a', { href: '#payments' }, texts.stay)),
    problem,
    button(texts.button, 'main', async () => {
      problem.replaceChildren()
      const result = await hub.api.verifyLink(token)
      if (!stage.isCurrent()) return
      if (result.ok) {
        hub.session.keep(result.value)
        return hub.signedIn()
      }
      if (result.problem.kind === 'refused') return invalid()
      problem.append(alertBox('bad', problemText(hub.texts, result.problem)))
    }),
  )
}
