import { MANDATES } from '../mandates/read.ts'
import { OPERATOR_ACTIONS, PAYMENT_ACTIONS, REDIRECT_ACTIONS } from './actions.ts'
import { create } from './create.ts'
import { exporting, list } from './list.ts'
import { events, receipt, refunds, show } from './read.ts'

export const PAYMENTS = [
  create,
  list,
  exporting,
  show,
  events,
  receipt,
  ...PAYMENT_ACTIONS,
  refunds,
  ...REDIRECT_ACTIONS,
  ...OPERATOR_ACTIONS,
  ...MANDATES,
]
