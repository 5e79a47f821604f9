import { z } from 'zod'
import type { OfferToPayResponse, RequestToPayResponse } from '../../src/wire/payment-requests.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { findAccount } from './find-account.ts'
import { collect, emptyText, idsOf, tellMore } from './pages.ts'
import type { ObPaging } from './pages.ts'
import { moneyText, printList, printRecord, statusStyle } from './print.ts'
import type { RequestKind } from './requests.ts'
import { awaitEnd, reasonText } from './wait.ts'

type Row = RequestToPayResponse | OfferToPayResponse

export const DecideOptions = z.object({ dryRun: z.boolean().default(false) })
export const AcceptOptions = DecideOptions.extend({
  account: z.string().optional(),
  wait: z.boolean().default(false),
  timeout: z.string(),
})

/** The commands that requests and offers have alike. */
export function requestActions<R extends Row>(kind: RequestKind<R>) {
  return {
    async list(context: Context, { options }: CommandInput<ObPaging>): Promise<CommandResult> {
      const { items, ...page } = await collect(options, kind.id, kind.list(context.client()))
      printList(context, {
        items,
        schema: kind.schema,
        columns: [
          { title: 'id', value: kind.id, short: endOfId },
          { title: 'way', value: (row) => (row.Direction === 'Outgoing' ? 'to' : 'from') },
          {
            title: 'who',
            value: (row) => (row.Direction === 'Outgoing' ? kind.receiver(row) : kind.maker(row)),
            least: 16,
          },
          { title: 'amount', value: (row) => kind.amount(row).Amount, align: 'right' },
          { title: 'cur', value: (row) => kind.amount(row).Currency, dropped: 2 },
          { title: 'due', value: kind.due },
          { title: 'status', value: (row) => row.Status, style: statusStyle },
          { title: 'reference', value: (row) => row.Reference ?? '', least: 10 },
          { title: 'made', value: (row) => shortTime(row.CreationDateTime), short: dayOf, dropped: 1 },
        ],
        id: kind.id,
        empty: emptyText(`There are no ${kind.noun.replace(' ', 's ')}.`, page),
      })
      tellMore(context, page)
      return undefined
    },

    async show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
      const client = context.client()
      printRequest(context, kind, await kind.get(client, await meant(client, kind, args)))
      return undefined
    },

    async accept(
      context: Context,
      { args, options }: CommandInput<z.infer<typeof AcceptOptions>>,
    ): Promise<CommandResult> {
      const timeoutMs = durationOf(options.timeout, '--timeout')
      const client = context.client()
      const id = await meant(client, kind, args)
      const { account } = options
      const accountId = account === undefined ? undefined : (await findAccount(client, account)).AccountId
      const accepted = await kind.accept(context, client, { id, options, accountId })
      if (accepted === undefined) return undefined
      if (!options.wait) {
        printRequest(context, kind, accepted)
        return undefined
      }
      const { item, problem } = await awaitEnd(context, {
        item: accepted,
        look: () => kind.get(client, id),
        noun: kind.noun,
        good: ['Paid'],
        bad: ['Rejected'],
        timeoutMs,
        hint: `svc ob ${kind.words} show ${id}`,
      })
      printRequest(context, kind, item)
      if (problem !== undefined) throw problem
      return undefined
    },

    async reject(
      context: Context,
      { args, options }: CommandInput<z.infer<typeof DecideOptions>>,
    ): Promise<CommandResult> {
      const client = context.client()
      const rejected = await kind.reject(context, client, { id: await meant(client, kind, args), options })
      if (rejected !== undefined) printRequest(context, kind, rejected)
      return undefined
    },
  }
}

async function meant<R>(client: Client, kind: RequestKind<R>, args: readonly string[]): Promise<string> {
  const [given] = args
  if (given === undefined) throw usageError(`which ${kind.noun}? Its id is missing`, `svc ob ${kind.words} list`)
  return resolveId(given, kind.noun, () => idsOf(kind.list(client), kind.id))
}

export function printRequest<R extends Row>(context: Context, kind: RequestKind<R>, row: R): void {
  printRecord(context, {
    item: row,
    id: kind.id(row),
    lines: [
      [kind.noun.startsWith('request') ? 'Request' : 'Offer', kind.id(row)],
      ['Status', row.Status],
      ['Reason', reasonText(row)],
      ['Amount', moneyText(kind.amount(row))],
      ['From', kind.maker(row)],
      ['To', kind.receiver(row)],
      ['Due', kind.due(row)],
      ['Reference', row.Reference ?? ''],
      ['Payment', row.PaymentId ?? ''],
      ['Made', shortTime(row.CreationDateTime)],
      ['Expires', row.Status === 'Sent' ? shortTime(row.ExpirationDateTime) : ''],
    ],
  })
}
