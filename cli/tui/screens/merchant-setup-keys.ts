import { percentText } from '../../../src/lib/money.ts'
import { setFees } from '../../../src/wire/fees.ts'
import { repairRegistration } from '../../../src/wire/registration.ts'
import { quoted } from '../../called-as.ts'
import { call } from '../../client.ts'
import { fractionOf } from '../../commands/fees/change.ts'
import type { Field } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import type { MerchantRow } from './merchant-lines.ts'
import { feeText } from './merchant-text.ts'
import { REASON, dangerOf, merchantOf, nameOf, tradingName, whom } from './merchant-names.ts'

/** What it pays for the payments to come. */
export const fees: ScreenKey<MerchantRow> = {
  key: 'f',
  label: 'fees',
  writes: true,
  permission: 'administer platform',
  needs: 'one',
  fits: ({ merchant }) => merchant !== null,
  command: (row, { percentage, flat, reason = '...' }) =>
    [
      `svc fees set ${nameOf(row)}`,
      ...(percentage === undefined ? [] : [`--percentage ${quoted(percentage)}`]),
      ...(flat === undefined ? [] : [`--flat ${quoted(flat)}`]),
      `--reason ${quoted(reason)}`,
    ].join(' '),
  ask: (rows) => {
    const merchant = rows[0]?.merchant
    return {
      what: `set the fees of ${whom(rows, tradingName)}`,
      about: ['For the payments to come; those that are there keep theirs.'],
      fields: [
        {
          name: 'percentage',
          sent: 'fee_percentage',
          label: 'Share of the amount',
          kind: 'line',
          initial: percentText(merchant?.fee_percentage ?? '0'),
        },
        {
          name: 'flat',
          sent: 'fee_flat',
          label: 'For each payment',
          kind: 'line',
          initial: merchant?.fee_flat ?? '0.00',
        },
        REASON,
      ],
      danger: dangerOf(rows),
    }
  },
  async run(row, { percentage = '', flat = '', reason = '' }, { client }) {
    const { id, trading_name: name } = merchantOf(row)
    const body = { fee_percentage: fractionOf(percentage), fee_flat: flat, reason }
    const { body: set } = await call(client, setFees, { params: { id }, body })
    return `${name} pays ${feeText(set)} from now on`
  },
}

const SOME_REASON: Field = { name: 'reason', label: 'Why', kind: 'line', optional: true }

/** Heals a registration, or takes away what is half-made of it. */
export function repairing(isRollback: boolean): ScreenKey<MerchantRow> {
  return {
    key: isRollback ? 'R' : 'r',
    label: isRollback ? 'roll back' : 'repair',
    writes: true,
    permission: 'operate merchants',
    // What is whole is not taken away.
    fits: ({ registration, merchant }) => registration !== null && (!isRollback || merchant === null),
    command: (row, { reason }) =>
      `svc merchants repair ${nameOf(row)}${isRollback ? ' --rollback' : ''}${reason === undefined ? '' : ` --reason ${quoted(reason)}`}`,
    ask: (rows) => ({
      what: `${isRollback ? 'take away the half-made realm of' : 'repair the registration of'} ${whom(rows, nameOf)}`,
      about: isRollback ? ['Its name is free again afterwards.'] : (rows[0]?.registration?.problems ?? []),
      fields: [SOME_REASON],
      ...(isRollback
        ? { danger: dangerOf(rows), last: () => `takes away the half-made realm of ${whom(rows, nameOf)}` }
        : {}),
    }),
    async run(row, { reason }, { client }) {
      const slug = nameOf(row)
      const body = { rollback: isRollback, ...(reason === undefined ? {} : { reason }) }
      const { body: done } = await call(client, repairRegistration, { params: { slug }, body })
      return `${slug}: ${done.repaired.join('; ') || 'nothing had to be repaired'}`
    },
  }
}
