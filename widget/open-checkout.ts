import type { Api, CallFailed } from './api.ts'
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
    if (banks.length === 0) return unusable('BANK_UNAVAILABLE', '', true)
    if (!checkout.is_fast_path) return { type: 'OPENED', checkout, banks }
    const bank = banks.find(({ id }) => id === checkout.debtor_bank_id) ?? preferredBank(banks)
    return bank?.available ? { type: 'OPENED_FAST', checkout, banks, bank } : { type: 'OPENED_ASKING', checkout, banks }
  } catch (error) {
    const code = codeOf(error)
    const { message, next = '' } = error as CallFailed
    // Errors not caused by the token may go away with a retry.
    return unusable(
      code,
      `${sentence(message)} ${sentence(next)}`.trim(),
      ['NETWORK', 'UNKNOWN'].includes(explainFailure(code).text),
    )
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
