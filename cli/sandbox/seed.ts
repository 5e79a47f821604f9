import { CliError, usageError, withFacts } from '../base/errors.ts'
import { stoppable } from '../client/interruptible.ts'
import type { Flags } from '../kit/action.ts'
import { command, grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { matching } from '../kit/read-values.ts'
import { withProgress } from '../output/progress.ts'
import { seed as seedBank } from './customers.ts'
import { DEMO_TRADE } from './seed/seed-demo.ts'
import { PAYMENTS_MAX, SHOPS_MAX, plannedTrade, seedTrade, withNextSeed } from './seed/seed-trade.ts'
import type { SeedProgress, Trade, TradeSize } from './seed/seed-trade.ts'

const WHOLE = matching(/^\d{1,10}$/, 'must be a whole number')
const COUNT = matching(/^\d{1,4}$/, 'must be a whole number')

const FLAGS = {
  dryRun: { summary: 'Show the request or the planned payments, and change nothing' },
  seed: { value: 'number', summary: 'Seed of all generated data (1)', read: WHOLE },
  ...grouped('The bank:', {
    customers: { value: 'count', summary: 'Number of customers, 1 to 100 (5)', read: WHOLE },
    days: {
      value: 'count',
      summary: 'Days of history up to yesterday, 1 to 730; 20000 over all customers (365)',
      read: WHOLE,
    },
  }),
  ...grouped('Trade: payments in every state, disputes, payouts, dead webhooks, merchants to review:', {
    merchants: { value: 'count', summary: 'Number of demo merchants, 1 to 8; 3 with --payments alone', read: COUNT },
    payments: { value: 'count', summary: 'Number of payments, 0 to 5000; 200 with --merchants alone', read: COUNT },
  }),
} as const satisfies Flags
type SeedOptions = Input<typeof FLAGS>

/** `svc sandbox seed`: the bank; with `--merchants` or `--payments` the trade of merchants; with both kinds both. */
export const seed = command({
  command: 'sandbox seed',
  summary: 'Create demo customers, merchants and payments',
  details: `The bank: the same seed on the same day creates the same customers, accounts and transactions, with the same ids.
Payments: the same seed plans the same payments, with the same payers, amounts and results. Their ids and times are new
each time, and so may be the choice of those that are disputed. A seed is used once: a second run adds nothing.`,
  examples: [
    'svc sandbox seed',
    'svc sandbox seed --seed 7 --customers 20 --days 90',
    'svc sandbox seed --merchants 3 --payments 200',
    'svc sandbox seed --merchants 3 --dry-run           the merchants, and those that wait for a review',
  ],
  flags: FLAGS,
  async run(context, input) {
    const { merchants, payments, customers, days } = input
    const isTrade = merchants !== undefined || payments !== undefined
    if (!isTrade) return seedBank(context, input)
    if (customers !== undefined || days !== undefined)
      throw usageError(
        '--customers and --days fill the bank, --merchants and --payments make merchants trade: two commands',
        'svc sandbox seed --customers 5, and then svc sandbox seed --merchants 3',
      )
    const size = sizeOf(input)
    if (input.dryRun) return printPlan(context, size)
    printTrade(context, await make(context, size))
  },
})

/** Reports progress also where no line can be redrawn; what was made before an interruption stays, and is reported. */
async function make(context: Context, size: TradeSize): Promise<Trade> {
  const { seed: number, payments: total } = size
  let isBegun = false
  try {
    return await withProgress(context, { title: 'Seeding', unit: 'payments', total }, (progress) => {
      const report: SeedProgress = (done, what) => {
        isBegun = true
        progress.at(done, what)
        if (!progress.isShown && what !== undefined) context.note(`${done} of ${total} payments; ${what}`)
      }
      return stoppable(context.client(), (client) => seedTrade(client, size, report))
    })
  } catch (error) {
    if (!isBegun || !(error instanceof CliError)) throw error
    const message = `${error.message}; what there is of seed ${number} stays`
    const options = { ...error.options, hint: withNextSeed(size), cause: error }
    throw withFacts(new CliError(error.code, message, options), { seed: String(number) })
  }
}

function sizeOf({ seed: number = '1', merchants, payments }: SeedOptions): TradeSize {
  const seed = Number.parseInt(number, 10)
  return {
    seed,
    merchants: within(merchants, { flag: '--merchants', otherwise: DEMO_TRADE.merchants, min: 1, max: SHOPS_MAX }),
    payments: within(payments, { flag: '--payments', otherwise: DEMO_TRADE.payments, min: 0, max: PAYMENTS_MAX }),
  }
}

type Range = { flag: string; otherwise: number; min: number; max: number }

function within(text: string | undefined, { flag, otherwise, min, max }: Range): number {
  const value = text === undefined ? otherwise : Number.parseInt(text, 10)
  if (value >= min && value <= max) return value
  throw usageError(`${flag}: must be from ${min} to ${max}`, `${flag} ${otherwise}`)
}

function printPlan({ print, note }: Context, size: TradeSize): CommandResult {
  const effect = `this would make ${plannedTrade(size)}`
  print.record({ dry_run: true, ...size, effect }, [['Effect', effect]], { id: String(size.seed) })
  note('Nothing was changed.')
}

function printTrade({ print, note }: Context, trade: Trade): void {
  print.record(trade, tradeLines(trade), { id: String(trade.seed) })
  if (trade.already_there) note(`The trade of seed ${trade.seed} is there already; --seed takes another number.`)
  else if (!print.isMachine)
    note(
      'Next: svc merchants list, svc payments list, svc disputes list, svc payouts list --all-merchants, svc webhooks list --all-merchants',
    )
}

function tradeLines(trade: Trade): [string, string][] {
  if (trade.already_there) return [['Seed', `${trade.seed}, which is there already`]]
  const states = Object.entries(trade.by_status).map(([status, count]) => `${count} ${status}`)
  return [
    ['Seed', String(trade.seed)],
    ['Shops', trade.merchants.join(', ')],
    ['Payments', `${trade.payments}: ${states.join(', ')}`],
    ['Disputes', String(trade.disputes)],
    ['Settlements', String(trade.settlements)],
    ['Dead webhooks', String(trade.dead_deliveries)],
    ['Payouts held', trade.held.join(', ')],
    ['To review', trade.kyb_pending.join(', ')],
  ]
}
