import { z } from 'zod'
import { PAYMENTS_MAX, SHOPS_MAX, plannedTrade, seedTrade, withNextSeed } from './seed/seed-trade.ts'
import type { SeedTold, Trade, TradeWishes } from './seed/seed-trade.ts'
import { stoppable } from '../client/interruptible.ts'
import { DEMO_TRADE } from './seed/seed-demo.ts'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import { CliError, usageError, withFacts } from '../base/errors.ts'
import { withProgress } from '../output/progress.ts'
import { SeedOptions as BankOptions, seed as seedBank } from './customers.ts'

const COUNT = z.string().regex(/^\d{1,4}$/, 'must be a whole number')

export const SeedOptions = BankOptions.extend({ merchants: COUNT.optional(), payments: COUNT.optional() })
type SeedInput = InputOf<typeof SeedOptions>

/** `svc sandbox seed`: the bank; with `--merchants` or `--payments` the trade of merchants; with both kinds both. */
export async function seed(context: Context, input: SeedInput): Promise<CommandResult> {
  const { merchants, payments, customers, days } = input.options
  const isTrade = merchants !== undefined || payments !== undefined
  if (!isTrade) return seedBank(context, input)
  if (customers !== undefined || days !== undefined)
    throw usageError(
      '--customers and --days fill the bank, --merchants and --payments make merchants trade: two commands',
      'svc sandbox seed --customers 5, and then svc sandbox seed --merchants 3',
    )
  const wishes = wishesOf(input.options)
  if (input.options.dryRun) return tellPlan(context, wishes)
  printTrade(context, await make(context, wishes))
}

/** Tells how far it is also where no line can move; what was made before it was ended on the way stays, and is told. */
async function make(context: Context, wishes: TradeWishes): Promise<Trade> {
  const { seed: number, payments: total } = wishes
  let isBegun = false
  try {
    return await withProgress(context, { title: 'Seeding', unit: 'payments', total }, (progress) => {
      const tell: SeedTold = (done, what) => {
        isBegun = true
        progress.at(done, what)
        if (!progress.isShown && what !== undefined) context.note(`${done} of ${total} payments; ${what}`)
      }
      return stoppable(context.client(), (client) => seedTrade(client, wishes, tell))
    })
  } catch (error) {
    if (!isBegun || !(error instanceof CliError)) throw error
    const message = `${error.message}; what there is of seed ${number} stays`
    const options = { ...error.options, hint: withNextSeed(wishes), cause: error }
    throw withFacts(new CliError(error.code, message, options), { seed: String(number) })
  }
}

function wishesOf({ seed: number = '1', merchants, payments }: SeedInput['options']): TradeWishes {
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

function tellPlan({ print, note }: Context, wishes: TradeWishes): CommandResult {
  const effect = `this would make ${plannedTrade(wishes)}`
  print.record({ item: { dry_run: true, ...wishes, effect }, id: String(wishes.seed), lines: [['Effect', effect]] })
  note('Nothing was changed.')
}

function printTrade({ print, note }: Context, trade: Trade): void {
  print.record({ item: trade, id: String(trade.seed), lines: tradeLines(trade) })
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
