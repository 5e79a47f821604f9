import { setMerchantActive, setPayoutHold } from '../../../src/wire/admin.ts'
import type { AdminMerchant } from '../../../src/wire/admin.ts'
import { quoted } from '../../called-as.ts'
import { call } from '../../client.ts'
import type { Given } from '../model/modal.ts'
import type { Ask, ScreenKey, Tools } from '../screen.ts'
import { kyb } from './kyb.tsx'
import type { MerchantRow } from './merchant-lines.ts'
import { REASON, dangerOf, merchantOf, nameOf, tradingName, whom } from './merchant-names.ts'
import { fees, repairing } from './merchant-setup-keys.ts'
import { ofMerchant } from './merchant-text.ts'

type Switch = {
  key: string
  label: string
  verb: string
  past: string
  about: string
  /** What Enter does at the last look, where it stops the merchant's work. */
  last?(whose: string): string
  fits(merchant: AdminMerchant): boolean
  becomes: Partial<AdminMerchant>
  run(id: string, reason: string, tools: Tools): Promise<unknown>
}

/** Something that is on or off for a merchant, and is done for a reason. */
function switching({ key, label, verb, past, about, last, fits, becomes, run }: Switch): ScreenKey<MerchantRow> {
  return {
    key,
    label,
    writes: true,
    permission: 'operate merchants',
    fits: ({ merchant }) => merchant !== null && fits(merchant),
    command: (row, { reason = '...' }) => `svc ${verb} ${nameOf(row)} --reason ${quoted(reason)}`,
    ask: (rows) => ({
      what: `${label} ${whom(rows, tradingName)}`,
      about: [about],
      fields: [REASON],
      ...(last === undefined ? {} : { danger: dangerOf(rows), last: () => last(whom(rows, tradingName)) }),
    }),
    optimistic: (row) => (row.merchant === null ? row : { ...row, merchant: { ...row.merchant, ...becomes } }),
    async run(row, { reason = '' }, tools) {
      const { id, trading_name: name } = merchantOf(row)
      await run(id, reason, tools)
      return `${past} ${name}`
    },
  }
}

function hold(isHeld: boolean): Pick<Switch, 'fits' | 'becomes' | 'run'> {
  return {
    fits: ({ payout_held: held }) => held !== isHeld,
    becomes: { payout_held: isHeld },
    run: (id, reason, { client }) =>
      call(client, setPayoutHold, { params: { id }, body: { payout_held: isHeld, reason } }),
  }
}

function active(isActive: boolean): Pick<Switch, 'fits' | 'becomes' | 'run'> {
  return {
    fits: ({ is_active: now }) => now !== isActive,
    becomes: { is_active: isActive },
    run: (id, reason, { client }) =>
      call(client, setMerchantActive, { params: { id }, body: { is_active: isActive, reason } }),
  }
}

/** A decision of the KYB queue, made here. */
function fromQueue(key: ScreenKey<AdminMerchant>): ScreenKey<MerchantRow> {
  const { fits, ask, command, run, optimistic, ...same } = key
  return {
    ...same,
    fits: ({ merchant }) => merchant !== null && fits?.(merchant) !== false,
    command: (row, given, who) => command(merchantOf(row), given, who),
    run: (row, given, tools) => run(merchantOf(row), given, tools),
    ...(ask === undefined ? {} : { ask: (rows, who): Ask => ask(rows.map(merchantOf), who) }),
    ...(optimistic === undefined
      ? {}
      : {
          optimistic: (row: MerchantRow, given: Given): MerchantRow =>
            row.merchant === null ? row : { ...row, merchant: optimistic(row.merchant, given) },
        }),
  }
}

const queueKeys: readonly ScreenKey<AdminMerchant>[] = kyb.keys

export const MERCHANT_KEYS: readonly ScreenKey<MerchantRow>[] = [
  switching({
    key: 'h',
    label: 'hold',
    verb: 'hold set',
    past: 'held the payouts of',
    about: 'Its payouts are held, and it can create no payments until release; refunds go on.',
    last: (whose) => `holds the payouts of ${whose}: no payments can be created until release`,
    ...hold(true),
  }),
  switching({
    key: 'h',
    label: 'release',
    verb: 'hold release',
    past: 'released the payouts of',
    about: 'Its payouts go on, and it can create payments again.',
    ...hold(false),
  }),
  repairing(false),
  repairing(true),
  fees,
  switching({
    key: 'E',
    label: 'disable',
    verb: 'merchants disable',
    past: 'disabled',
    about: 'Nobody of it can sign in, and its tokens are refused.',
    last: (whose) => `disables ${whose}: nobody of it can sign in, and its tokens are refused`,
    ...active(false),
  }),
  switching({
    key: 'E',
    label: 'enable',
    verb: 'merchants enable',
    past: 'enabled',
    about: 'It can work again.',
    ...active(true),
  }),
  ...queueKeys.map(fromQueue),
  {
    key: 'P',
    label: 'payments',
    needs: 'one',
    fits: ({ merchant }) => merchant !== null,
    command: (row) => `svc merchants payments --merchant ${nameOf(row)}`,
    async run({ id }, _given, { go }) {
      go('payments', { filter: ofMerchant(id) })
      return undefined
    },
  },
  {
    key: 'd',
    label: 'details',
    on: 'list',
    needs: 'one',
    command: (row) => (row.merchant === null ? 'svc merchants registrations' : `svc merchants get ${nameOf(row)}`),
    async run({ id }, _given, { go }) {
      go('merchants', { open: id })
      return undefined
    },
  },
]
