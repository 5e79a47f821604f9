import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { AuditChain, AuditRow } from '../../src/lib/audit-chain.ts'
import { checkpointsOf, verifyChain } from '../../src/lib/verify-chain.ts'
import type { ChainHead, ChainReport, Checkpoint } from '../../src/lib/verify-chain.ts'
import { usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Flags } from '../kit/action.ts'
import { command } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { matching } from '../kit/read-values.ts'
import { withProgress } from '../output/progress.ts'
import { EXPORT_ORDER, NEW_EXPORT, exportedRows, linesOf } from './exported.ts'
import { rowsOfService } from './rows.ts'
import type { RowSource } from './rows.ts'

export const CHAIN_CHOICES = ['all', ...AUDIT_CHAINS] as const

const FLAGS = {
  chain: {
    value: 'chain',
    summary: 'Verify only this chain and the checkpoints',
    choices: CHAIN_CHOICES,
    initial: 'all',
  },
  file: {
    value: 'export',
    summary: 'Verify an export offline; - is standard input',
    read: matching(/./, 'say which file'),
  },
  expectHead: { value: 'head', summary: 'Head printed by an earlier run; may be repeated', repeats: true },
} as const satisfies Flags
type VerifyOptions = Input<typeof FLAGS>

export const verify = command({
  command: 'audit verify',
  summary: 'Verify the hash chains of the audit trail',
  details: `The hashes are computed on this machine, from the rows as they were hashed; the service is not trusted. Actions
of operators and checkpoints are one chain each; events are a chain for each payment, refund, dispute and payout. Every
ten minutes a checkpoint records the number of rows and a digest of them. It reveals events that were cut off the end of
a chain, and payments that were deleted. A payment, refund, dispute or payout itself must have the status of its last
event, and the amounts, currency, payment, merchant and account that its first event sealed; each event must start where
the one before it ended. Events of the last 30 seconds are not read yet. It takes some 250 bytes of memory for each of
them that there ever was.

What no chain shows by itself is that its own last rows were cut off. So keep the heads that a run prints, away from the
database, and give them to the next run: --expect-head <ordinal>:<hash>, with the chain's name before it where it is
another than operator_actions. That run proves that no action up to there was changed or removed; with the head of the
checkpoints, nothing that they have sealed.

Exit code 0: whole. Exit code 3: broken; chain, ordinal, id and what is wrong are printed, the first of each chain. It
is 3 as well for an export that is not whole, such as one that was interrupted; an empty file is none, exit code 2.`,
  examples: [
    'svc audit verify',
    'svc audit verify --file audit.jsonl',
    'gunzip -c audit.jsonl.gz | svc audit verify --file -',
    'svc audit verify --expect-head 412:9f2c... --expect-head checkpoints:98:41aa...',
    "svc audit verify -o json -q 'chains[0].head'",
  ],
  flags: FLAGS,
  async run(context, input) {
    const chains = input.chain === 'all' ? AUDIT_CHAINS : [...new Set([input.chain, 'checkpoints'] as const)]
    const expected = expectedHeads(input.expectHead, chains)
    const verified =
      input.file === undefined
        ? { reports: await read(context, rowsOfService(context.client()), { chains, expected }), incomplete: null }
        : await verifyFile(context, input.file, { ...input, chains, expected })
    print(context, verified)
    const broken = verified.reports.filter((report) => report.broken !== null)
    // What looks like a changed trail may be a file that was cut off.
    if (verified.incomplete !== null) context.note(`Next: ${NEW_EXPORT}, and verify that one`)
    else if (broken.length > 0) context.note(whatNext(broken))
    else remark(context, verified.reports)
    return broken.length > 0 || verified.incomplete !== null ? EXIT.assertion : undefined
  },
})

type ChainSelection = Pick<Plan, 'chains' | 'expected'>

function read(context: Context, source: RowSource, wanted: ChainSelection): Promise<SealedReport[]> {
  return withProgress(context, { title: 'Verifying', unit: 'rows' }, ({ at, note, isShown }) => {
    const onPage = (chain: AuditChain, rows: number): void => note(`${chain}: ${rows} rows read`)
    return verifyAll(source, { ...wanted, onPage: isShown ? () => undefined : onPage, at })
  })
}

type Verified = { reports: readonly SealedReport[]; incomplete: string | null }

/** Of a chain that is not in an export nothing is said: that it has no rows there does not make it whole. */
async function verifyFile(
  context: Context,
  file: string,
  { chain, ...wanted }: ChainSelection & Pick<VerifyOptions, 'chain'>,
): Promise<Verified> {
  const exported = exportedRows(linesOf(context.io, file), file)
  const reports = await read(context, exported.source, wanted)
  const { incomplete, chains } = await exported.end()
  const asked = [...(chain === 'all' ? [] : [chain]), ...wanted.expected.keys()]
  const missing = asked.find((each) => !chains.includes(each))
  if (missing !== undefined)
    throw usageError(`--file: ${file} is an export of ${chains.join(', ')}, without ${missing}`, NEW_EXPORT)
  const left = wanted.chains.filter((each) => !chains.includes(each))
  if (left.length > 0) context.note(`Not in ${file}, and not verified: ${left.join(', ')}.`)
  return { reports: reports.filter((report) => chains.includes(report.chain)), incomplete }
}

export type Plan = {
  chains: readonly AuditChain[]
  expected: ReadonlyMap<AuditChain, ChainHead>
  onPage(chain: AuditChain, rows: number): void
  at(rows: number, chain: string): void
}

export type SealedReport = ChainReport & { sealed: { upTo: string; unsealed: number } | null }

const PROGRESS_ROWS = 10_000

/** In the order of an export. Checkpoints first: every row that they seal is old enough to be among those read after them. */
export async function verifyAll(source: RowSource, { chains, expected, onPage, at }: Plan): Promise<SealedReport[]> {
  const checkpoints: AuditRow[] = []
  const reports = new Map<AuditChain, SealedReport>()
  let total = 0
  for (const chain of EXPORT_ORDER.filter((each) => each === 'checkpoints' || chains.includes(each))) {
    const seals: Checkpoint[] = checkpointsOf(chain, checkpoints)
    const sealedUpTo = seals.at(-1)?.upTo ?? 0n
    const verifier = verifyChain(chain, { seals, expected: expected.get(chain) })
    let [read, unsealed] = [0, 0]
    for await (const page of source(chain)) {
      // Rows after the first broken row of a chain prove nothing.
      if (!page.every((row) => verifier.add(row) && keep(chain, row, checkpoints))) break
      if (Math.floor((read + page.length) / PROGRESS_ROWS) > Math.floor(read / PROGRESS_ROWS))
        onPage(chain, read + page.length)
      read += page.length
      total += page.length
      at(total, chain)
      unsealed += page.filter(({ ordinal }) => BigInt(ordinal ?? 0) > sealedUpTo).length
    }
    const sealed = chain === 'checkpoints' ? null : { upTo: sealedUpTo.toString(), unsealed }
    reports.set(chain, { ...verifier.end(), sealed })
  }
  return chains.flatMap((chain) => reports.get(chain) ?? [])
}

function keep(chain: AuditChain, row: AuditRow, checkpoints: AuditRow[]): true {
  if (chain === 'checkpoints') checkpoints.push(row)
  return true
}

function print(context: Context, { reports, incomplete }: Verified): void {
  const chains = reports.map(({ head, ...report }) => ({ ...report, head: headText(head) }))
  context.print.record(
    {
      chains: chains.map(({ chain, rows, head, broken, sealed }) => ({
        chain,
        rows,
        sealed_up_to: sealed?.upTo ?? null,
        unsealed: sealed?.unsealed ?? null,
        head,
        broken,
      })),
      incomplete,
    },
    [...reports.map(reportLine), ['the export', incomplete === null ? '' : `NOT WHOLE: ${incomplete}`]],
    { id: chains.flatMap(({ chain, head }) => (head === null ? [] : [`${chain}:${head}`])).join('\n') },
  )
}

export function reportLine({ chain, rows, head, broken, sealed }: SealedReport): [string, string] {
  const text = headText(head)
  if (broken === null)
    return [chain, `whole, ${rows} rows${sealedText(sealed)}${text === null ? '' : `, head ${text}`}`]
  const id = broken.id === null ? '' : ` (${broken.id})`
  return [chain, `BROKEN at ordinal ${broken.ordinal}${id}: ${broken.problem}: ${broken.detail}`]
}

function sealedText(sealed: SealedReport['sealed']): string {
  return sealed === null || sealed.unsealed === 0 ? '' : ` (${sealed.unsealed} not sealed yet)`
}

function headText(head: ChainHead | null): string | null {
  return head === null ? null : `${head.ordinal}:${head.hash}`
}

export function whatNext(broken: readonly ChainReport[]): string {
  const [first] = broken
  return [
    `What was written there once is not what is there now; only a superuser or the tables' owner can have done it.`,
    `Next: keep the database, its logs and its backups as they are; compare ordinal ${first?.broken?.ordinal} of ${first?.chain} with a backup or with an export of before.`,
    `What is there now: svc audit export --chain ${first?.chain} --file broken.jsonl`,
  ].join('\n')
}

function remark(context: Context, reports: readonly SealedReport[]): void {
  const unsealed = reports.reduce((sum, { sealed }) => sum + (sealed?.unsealed ?? 0), 0)
  if (unsealed === 0) return
  context.note(
    `${unsealed} rows are not sealed by a checkpoint yet: that the last of them were cut off would not be seen. Keep the heads (svc audit verify -o id), and give them to a later run with --expect-head.`,
  )
}

const HEAD = new RegExp(`^(?:(${AUDIT_CHAINS.join('|')}):)?([1-9]\\d{0,17}):([0-9a-f]{64})$`)

/**
 * What an earlier run printed as heads, by their chains.
 * @throws {CliError} exit code 2, also for the head of a chain that is not verified
 */
function expectedHeads(given: readonly string[], chains: readonly AuditChain[]): Map<AuditChain, ChainHead> {
  const heads = new Map<AuditChain, ChainHead>()
  for (const text of given) {
    const [, name, ordinal = '', hash = ''] = HEAD.exec(text) ?? []
    const chain = AUDIT_CHAINS.find((known) => known === (name ?? 'operator_actions'))
    if (ordinal === '' || chain === undefined)
      throw usageError(`--expect-head: "${text}" is not <ordinal>:<hash>, as a run of before printed it`)
    if (!chains.includes(chain))
      throw usageError(`--expect-head: ${chain} is not verified here`, `svc audit verify --chain ${chain}`)
    heads.set(chain, { ordinal, hash })
  }
  return heads
}
