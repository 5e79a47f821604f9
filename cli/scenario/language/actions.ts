import { ACTIVE_ACTIONS, HOLD_ACTIONS, KYB_ACTIONS } from '../../merchants/actions.ts'
import { FEE_ACTIONS } from '../../merchants/setup-actions.ts'
import { actionVerbs } from '../action-verb.ts'
import { merchantOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { MerchantReference } from './parts.ts'

/** The verbs that are read from what people can do on the command line. */

/** What operators do to a merchant: the case's own where nothing is said. */
export const DONE_TO_MERCHANTS = actionVerbs(
  {
    shape: { of: MerchantReference.optional() },
    example: {},
    idOf: (run: CaseRun, { of }) => merchantOf(run, of).merchant.merchant_id,
  },
  [...KYB_ACTIONS, ...HOLD_ACTIONS, ...ACTIVE_ACTIONS, ...FEE_ACTIONS],
)
