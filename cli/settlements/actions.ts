import { SettlementSchedule } from '../../src/wire/admin.ts'
import { closeSettlements, getSettlementSchedule, putSettlementSchedule } from '../../src/wire/settlements.ts'
import type { MerchantSettlementSchedule } from '../../src/wire/settlements.ts'
import { action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { printSchedule, printSettlements } from './view.ts'

/** When the merchant's periods end. */
const schedule: Subject<MerchantSettlementSchedule> = {
  noun: 'schedule',
  summary: 'When periods are settled',
  isOwn: true,
  async find(client) {
    const { call } = await import('../client/call.ts')
    return { thing: (await call(client, getSettlementSchedule, {})).body, isExact: true }
  },
  id: () => '',
  name: () => 'the schedule of settlements',
  handle: () => '',
  confirmBy: () => [],
}

const close = action({
  command: 'settlements close',
  summary: 'Close the open periods now',
  examples: ['svc settlements close', 'svc settlements close --currency EUR'],
  subject: schedule,
  flags: { currency: { value: 'code', summary: 'Only the period of this currency', label: 'Currency' } },
  operation: closeSettlements,
  request: (_id, { currency }) => ({ body: currency === undefined ? {} : { currency: currency.toUpperCase() } }),
  effect: (_now, { currency }) => `settle what is owed${currency === undefined ? '' : ` in ${currency.toUpperCase()}`}`,
  done: (_now, { settlements }) =>
    settlements.length === 0 ? 'there was nothing to settle' : `closed ${settlements.length}`,
  key: { letter: 'c', label: 'close periods' },
  view: (context, { settlements }) => printSettlements(context, settlements),
})

const setSchedule = action({
  command: 'settlements schedule set',
  summary: 'Set when periods are settled',
  details: 'Also for the period that is open. MANUAL periods end with svc settlements close.',
  examples: ['svc settlements schedule set WEEKLY'],
  subject: schedule,
  flags: {
    schedule: {
      value: 'schedule',
      summary: 'DAILY, WEEKLY or MANUAL',
      choices: SettlementSchedule.options,
      member: 'settlement_schedule',
      positional: true,
      required: true,
    },
  },
  operation: putSettlementSchedule,
  request: (_id, { schedule: wanted }) => ({ body: { settlement_schedule: wanted } }),
  effect: (_now, { schedule: wanted }) => `settle ${wanted} from now on`,
  done: (_now, { settlement_schedule: now }) => `periods are settled ${now}`,
  key: { letter: 's', label: 'schedule' },
  view: printSchedule,
})

/** What is done about settlements. */
export const SETTLEMENT_ACTIONS = [close, setSchedule] as const
