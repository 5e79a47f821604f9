import type { Api } from './api.ts'
import { preferredBank } from './bank-preference.ts'
import type { Connection } from './connection.ts'
import { codeOf } from './phase-effects.ts'
import { explainFailure } from './failures.ts'
import type { FlowEvent } from './flow.ts'

/** Loads the checkout and the banks. An error keeps the service's message for the shop's developer. */
export async function openCheckout(api: Api, { parentOrigin }: Connection): Promise<FlowEvent> {
  try {
    const [checkout, banks] = await Promise.all([api.checkout(), api.banks()])
    if (checkout.callback_origin !== parentOrigin) {
      return unusable(
        'ORIGIN_MISMATCH',
        `This checkout is for ${checkout.callback_origin}, but the page around it is ${parentOrigin}.`,
      )
    }
    if (checkout.is_paid) return { type: 'PAID_BEFORE', checkout }
    const bank = preferredBank(banks) ?? banks[0]
    if (bank === undefined) return unusable('BANK_UNAVAILABLE', '', true)
    return checkout.is_fast_path ? { type: 'OPENED_FAST', checkout, banks, bank } : { type: 'OPENED', checkout, banks }
  } catch (error) {
    const code = codeOf(error)
    const { message } = error as Error
    // Errors not caused by the token may go away with a retry.
    return unusable(code, sentence(message), ['NETWORK', 'UNKNOWN'].includes(explainFailure(code).text))
  }
}

function unusable(code: string, message: string, again = false): FlowEvent {
  return { type: 'UNUSABLE', problem: { code, message, again } }
}

/** The service's messages have no capital and no full stop. */
function sentence(text: string): string {
  if (text === '') return ''
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
