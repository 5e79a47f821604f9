import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { AUDIT_CHAINS } from '../../../src/lib/audit-chain.ts'
import type { AuditChain } from '../../../src/lib/audit-chain.ts'
import { action } from '../../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../context.ts'
import { CliError } from '../../errors.ts'
import { EXIT, exitOfSignal } from '../../exit-codes.ts'
import { withProgress } from '../../progress.ts'
import type { Progress } from '../../progress.ts'
import { targetFile } from '../../target-file.ts'
import { onStopSignals } from '../../up/signals.ts'
import { exportedLine, rowsOfService } from './rows.ts'
import type { RowSource } from './rows.ts'
import { CHAIN_CHOICES } from './verify.ts'

const ExportOptions = z.object({
  chain: z.enum(CHAIN_CHOICES),
  file: z.string().min(1, 'say which file').optional(),
  force: z.boolean().default(false),
})
type ExportOptions = z.infer<typeof ExportOptions>

/** `svc audit export`: the chains as JSON lines, to keep them and to verify them elsewhere. */
export function addExport(audit: Command, runtime: Runtime): void {
  audit
    .command('export')
    .description('write the hash chains as JSON lines, to keep them and to verify them elsewhere')
    .addOption(new Option('--chain <chain>', 'only this chain').choices(CHAIN_CHOICES).default('all'))
    .option('--file <file>', 'write this file, in one step and readable by you alone; else standard output')
    .option('--force', 'replace the file where there is one')
    .addHelpText('after', HELP)
    .action(action(runtime, ExportOptions, exportChains))
}

const HELP = `
Each line is {"chain": ..., "row": {...}}, every column as the text that was hashed; "standing", beside the last event
of a payment or dispute, is the status that it has itself. Payloads of payments hold payers'
names and account numbers: the file gets mode 0600, and is to be kept like the database. Checkpoints come first. Payment
and dispute events of the last 30 seconds are left out, for others may still be written before them.

Examples:
  svc audit export --file audit.jsonl
  svc audit verify --file audit.jsonl
  svc audit export --chain operator_actions | gzip > actions.jsonl.gz
`

async function exportChains(context: Context, { options }: CommandInput<ExportOptions>): Promise<CommandResult> {
  const { file } = options
  const target = file === undefined ? undefined : { file: targetFile(context.io.cwd, file, options), path: file }
  // A checkpoint that is read first seals only rows that are read after it.
  const chains: readonly AuditChain[] = options.chain === 'all' ? AUDIT_CHAINS.toReversed() : [options.chain]
  const source = rowsOfService(context.client())
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  try {
    const job = { source, chains, signal: stop.signal }
    if (target === undefined) await toStdout(context, job)
    else await toFile(context, target, job)
  } finally {
    removeHandlers()
  }
  if (!stop.signal.aborted) return undefined
  return exitOfSignal(stop.signal.reason)
}

type Job = { source: RowSource; chains: readonly AuditChain[]; signal: AbortSignal }

const EXPORTING = { title: 'Exporting', unit: 'rows' }

/** Hands on the lines page by page, and counts them. False from `write` ends it. */
async function writeLines({ source, chains, signal }: Job, progress: Progress, write: (text: string) => boolean) {
  let total = 0
  const written: { chain: AuditChain; rows: number }[] = []
  for (const chain of chains) {
    let rows = 0
    for await (const page of source(chain)) {
      if (signal.aborted || !write(page.map((row) => exportedLine(chain, row)).join(''))) return written
      rows += page.length
      total += page.length
      progress.at(total, chain)
    }
    written.push({ chain, rows })
  }
  return written
}

async function toStdout(context: Context, job: Job): Promise<void> {
  const { io, note } = context
  const written = await withProgress(context, { ...EXPORTING, isHidden: io.stdout.isTTY }, (progress) =>
    writeLines(job, progress, (text) => {
      io.stdout.write(text)
      return io.stdout.isGone !== true
    }),
  )
  note(`Exported ${written.map(({ chain, rows }) => `${rows} rows of ${chain}`).join(', ')}`)
}

/** A draft becomes the file once all of it is on the disk; what is interrupted leaves nothing. */
async function toFile(context: Context, { file, path }: { file: string; path: string }, job: Job): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  const descriptor = orFailure(path, () => openSync(draft, 'wx', 0o600))
  try {
    const written = await withProgress(context, EXPORTING, (progress) =>
      writeLines(job, progress, (text) => orFailure(path, () => writeAll(descriptor, text))),
    )
    if (job.signal.aborted) return
    orFailure(path, () => {
      fsyncSync(descriptor)
      renameSync(draft, file)
    })
    context.print.record({
      item: { file, chains: written },
      lines: [['Written', file], ...written.map(({ chain, rows }): [string, string] => [chain, `${rows} rows`])],
      id: file,
    })
    context.note(`To verify it, anywhere: svc audit verify --file ${path}`)
  } finally {
    closeSync(descriptor)
    rmSync(draft, { force: true })
  }
}

function writeAll(descriptor: number, text: string): true {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
  return true
}

function orFailure<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError('FILE_UNWRITABLE', `--file: can't write ${path} (${why})`, { exit: EXIT.failure, cause: error })
  }
}
