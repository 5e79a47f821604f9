import type { Api } from './api.ts'
import { preferredBank } from './bank-preference.ts'
import type { Connection } from './connection.ts'
import { codeOf } from './phase-effects.ts'
import { explainFailure } from './failures.ts'
import type { FlowEvent } from './flow.ts'

/** Reads the checkout and the banks. Why one can't be used the shop's developer reads in the service's own words. */
export async function openCheckout(api: Api, { parentOrigin }: Connection): Promise<FlowEvent> {
  try {
    const [checkout, banks] = await Promise.all([api.checkout(), api.banks()])
    if (checkout.callback_origin !== parentOrigin) {
      return unusable(
        'ORIGIN_MISMATCH',
        `This checkout belongs to ${checkout.callback_origin}, and the page around it is ${parentOrigin}.`,
      )
    }
    if (checkout.is_paid) return { type: 'PAID_BEFORE', checkout }
    const bank = preferredBank(banks) ?? banks[0]
    if (bank === undefined) return unusable('BANK_UNAVAILABLE', '', true)
    return checkout.is_fast_path ? { type: 'OPENED_FAST', checkout, banks, bank } : { type: 'OPENED', checkout, banks }
  } catch (error) {
    const code = codeOf(error)
    const { message } = error as Error
    // What is not the token's fault may go better in a moment.
    return unusable(code, sentence(message), ['NETWORK', 'UNKNOWN'].includes(explainFailure(code).text))
  }
}

function unusable(code: string, message: string, again = false): FlowEvent {
  return { type: 'UNUSABLE', problem: { code, message, again } }
}

/** The service writes its errors without a capital and a full stop. */
function sentence(text: string): string {
  if (text === '') return ''
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
