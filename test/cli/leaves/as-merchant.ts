import type { Ran, Row, CommandLine } from './row.ts'
import type { World } from './world.ts'

/** A command of a merchant. */
export const asMerchant = (row: Omit<Ran, 'as'>): Row => ({ as: 'merchant', ...row })

const NO_CLIENT = { SVC_CLIENT_ID: 'nobody-at-all' }
/** A merchant that does not exist. */
export const UNKNOWN_CLIENT = {
  args: (): CommandLine => ({ words: [], env: NO_CLIENT }),
  exit: 4,
  error: 'UNKNOWN_CLIENT',
} as const

/** What is paid, where it does not matter. */
export const PAY = ['--amount', '12.50', '--currency', 'GBP'] as const

/** A merchant of its own, as whom the command is typed. */
export async function asNew({ merchant }: World, ...words: string[]): Promise<CommandLine> {
  return { words, env: { SVC_CLIENT_ID: (await merchant()).clientId } }
}
