import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { alertBox } from './parts.ts'

/** How the sandbox's messages are read. */
const SANDBOX_COMMAND = 'npx svc sandbox mail show'

/** How a message is read that the sandbox does not send; null in live mode. */
export async function sandboxHint({ api, texts }: Hub, address?: string): Promise<HTMLElement | null> {
  if (!(await api.isSandbox())) return null
  const command = `${SANDBOX_COMMAND}${address === undefined ? '' : ` --recipient ${address}`}`
  return alertBox('note', el('p', {}, texts.signIn.sandbox), el('p', {}, el('code', {}, command)))
}
