import { setMerchantActive, setPayoutHold } from '../../../src/wire/admin.ts'
import type { AdminMerchant } from '../../../src/wire/admin.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import type { Given } from '../model/modal.ts'
import type { Ask, ScreenKey, Tools } from '../screen.ts'
import { kyb } from './kyb.tsx'
import type { MerchantRow } from './merchant-lines.ts'
import { REASON, dangerOf, merchantOf, nameOf, tradingName, whom } from './merchant-names.ts'
import { fees, repairing } from './merchant-setup-keys.ts'
import { listed, ofMerchant } from './merchant-text.ts'

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
  facts(merchant: AdminMerchant): string
  run(merchant: AdminMerchant, reason: string, tools: Tools): Promise<unknown>
}

/** Something that is on or off for a merchant, and is done for a reason. */
function switching({ key, label, verb, past, about, last, fits, becomes, facts, run }: Switch): ScreenKey<MerchantRow> {
  return {
    key,
    label,
    writes: true,
    permission: 'operate merchants',
    fits: ({ merchant }) => merchant !== null && fits(merchant),
    facts: ({ merchant }) => (merchant === null ? '' : facts(merchant)),
    command: (row, { reason = '...' }) => `svc ${verb} ${nameOf(row)} --reason ${quoted(reason)}`,
    ask: (rows) => ({
      what: `${label} ${whom(rows, tradingName)}`,
      about: [about, ...manyOf(rows)],
      fields: [REASON],
      ...(last === undefined ? {} : { danger: dangerOf(rows), last: () => last(whom(rows, tradingName)) }),
    }),
    optimistic: (row) => (row.merchant === null ? row : { ...row, merchant: { ...row.merchant, ...becomes } }),
    async run(row, { reason = '' }, tools) {
      const merchant = merchantOf(row)
      await run(merchant, reason, tools)
      return `${past} ${merchant.trading_name}`
    },
  }
}

/** Which they are, where their number alone stands above. */
function manyOf(rows: readonly MerchantRow[]): string[] {
  return rows.length === 1 ? [] : listed(rows, (row) => `${tradingName(row)} (${nameOf(row)})`)
}

type Side = Pick<Switch, 'fits' | 'becomes' | 'facts' | 'run'>

function hold(isHeld: boolean): Side {
  return {
    fits: ({ payout_held: held }) => held !== isHeld,
    becomes: { payout_held: isHeld },
    facts: ({ payout_held: held }) => (held ? 'held' : 'not held'),
    run: ({ id, payout_held: seen }, reason, { client }) => {
      const body = { payout_held: isHeld, reason, expected: { payout_held: seen } }
      return call(client, setPayoutHold, { params: { id }, body })
    },
  }
}

function active(isActive: boolean): Side {
  return {
    fits: ({ is_active: now }) => now !== isActive,
    becomes: { is_active: isActive },
    facts: ({ is_active: now }) => (now ? 'enabled' : 'disabled'),
    run: ({ id, is_active: seen }, reason, { client }) => {
      const body = { is_active: isActive, reason, expected: { is_active: seen } }
      return call(client, setMerchantActive, { params: { id }, body })
    },
  }
}

/** A decision of the KYB queue, made here. */
function fromQueue(key: ScreenKey<AdminMerchant>): ScreenKey<MerchantRow> {
  const { fits, facts, ask, command, run, optimistic, ofShown: _none, ...same } = key
  return {
    ...same,
    fits: ({ merchant }) => merchant !== null && fits?.(merchant) !== false,
    ...(facts === undefined ? {} : { facts: ({ merchant }) => (merchant === null ? '' : facts(merchant)) }),
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
    command: (row) => (row.merchant === null ? 'svc merchants registrations' : `svc merchants show ${nameOf(row)}`),
    async run({ id }, _given, { go }) {
      go('merchants', { open: id })
      return undefined
    },
  },
]
