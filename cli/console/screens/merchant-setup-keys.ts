import { parseAmount, percentText } from '../../../src/lib/money.ts'
import { setFees } from '../../../src/wire/fees.ts'
import { repairRegistration } from '../../../src/wire/registration.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { feesOf, fractionOf } from '../../merchants/fees-change.ts'
import { errorText } from '../action-runner.ts'
import type { Field } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import type { MerchantRow } from './merchant-lines.ts'
import { feeText, listed } from './merchant-text.ts'
import { REASON, dangerOf, merchantOf, nameOf, tradingName, whom } from './merchant-names.ts'

/** What it pays for the payments to come. */
export const fees: ScreenKey<MerchantRow> = {
  key: 'f',
  label: 'fees',
  writes: true,
  permission: 'administer platform',
  needs: 'one',
  fits: ({ merchant }) => merchant !== null,
  facts: ({ merchant }) => (merchant === null ? '' : feeText(merchant)),
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
          check: wrongShare,
        },
        {
          name: 'flat',
          sent: 'fee_flat',
          label: 'For each payment',
          kind: 'line',
          initial: merchant?.fee_flat ?? '0.00',
          check: wrongAmount,
        },
        REASON,
      ],
      danger: dangerOf(rows),
      last: ({ percentage = '', flat = '' }) =>
        `charges ${whom(rows, tradingName)} ${percentage} and ${flat} for each payment from now on`,
      act: () => 'set the fees',
    }
  },
  async run(row, { percentage = '', flat = '', reason = '' }, { client }) {
    const merchant = merchantOf(row)
    const { id, trading_name: name } = merchant
    const body = { fee_percentage: fractionOf(percentage), fee_flat: flat, reason, expected: feesOf(merchant) }
    const { body: set } = await call(client, setFees, { params: { id }, body })
    return `${name} pays ${feeText(set)} from now on`
  },
}

/** What is wrong with a share, told while its field is still there. */
function wrongShare(text: string): string | undefined {
  try {
    fractionOf(text)
    return undefined
  } catch (error) {
    return errorText(error).replaceAll('--percentage: ', '').replaceAll('--percentage ', '')
  }
}

function wrongAmount(text: string): string | undefined {
  try {
    parseAmount(text)
    return undefined
  } catch (error) {
    return errorText(error)
  }
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
    facts: ({ registration }) => registration?.status ?? '',
    command: (row, { reason }) =>
      `svc merchants repair ${nameOf(row)}${isRollback ? ' --rollback' : ''}${reason === undefined ? '' : ` --reason ${quoted(reason)}`}`,
    ask: (rows) => ({
      what: `${isRollback ? 'take away the half-made realm of' : 'repair the registration of'} ${whom(rows, nameOf)}`,
      about:
        rows.length > 1
          ? listed(rows, nameOf)
          : isRollback
            ? ['Its name is free again afterwards.']
            : (rows[0]?.registration?.problems ?? []),
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
