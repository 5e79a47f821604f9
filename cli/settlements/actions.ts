import { closeSettlements, getSettlementSchedule, putSettlementSchedule } from '../../src/wire/settlements.ts'
import { ownSubject, action } from '../kit/action.ts'
import { upperCase } from '../kit/read-values.ts'
import { SCHEDULE } from '../merchants/setup-actions.ts'
import { printSchedule, settlementView } from './view.ts'

const schedule = ownSubject('schedule', 'the schedule of settlements', getSettlementSchedule)

const close = action({
  command: 'settlements close',
  summary: 'Close the open periods now',
  examples: ['svc settlements close', 'svc settlements close --currency EUR'],
  subject: schedule,
  flags: {
    currency: { value: 'code', summary: 'Only the period of this currency', label: 'Currency', read: upperCase },
  },
  operation: closeSettlements,
  effect: (_now, { currency }) => `settle what is owed${currency === undefined ? '' : ` in ${currency}`}`,
  done: (_now, { settlements }) =>
    settlements.length === 0 ? 'there was nothing to settle' : `closed ${settlements.length}`,
  key: { letter: 'c', label: 'close periods' },
  view: (context, { settlements }) => context.print.list(settlements, settlementView(false)),
})

const setSchedule = action({
  command: 'settlements schedule set',
  summary: 'Set when periods are settled',
  details: 'Also for the period that is open. MANUAL periods end with svc settlements close.',
  examples: ['svc settlements schedule set WEEKLY'],
  subject: schedule,
  flags: SCHEDULE,
  operation: putSettlementSchedule,
  effect: (_now, { schedule: wanted }) => `settle ${wanted} from now on`,
  done: (_now, { settlement_schedule: now }) => `periods are settled ${now}`,
  key: { letter: 's', label: 'schedule' },
  view: printSchedule,
})

export const SETTLEMENT_ACTIONS = [close, setSchedule] as const
