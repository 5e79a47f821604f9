import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ExportOptions, exportAll } from './ledger-export.ts'
import { ListOptions, list } from './ledger-list.ts'
import { filtered } from './filters.ts'
import { paged } from '../kit/paging.ts'

/** `svc ledger`: payments as the lines of a book, with what they cost and when they settled. */
export function addLedger(ledger: Command, runtime: Runtime): void {
  ledger.addHelpText(
    'after',
    '\nExamples:\n  svc ledger list --status Settled --since 24h\n  svc ledger export --file november.csv --since 2026-11-01 --until 2026-12-01\n',
  )
  paged(filtered(ledger.command('list').description('list the ledger, the newest payment first')))
    .addHelpText('after', '\nExamples:\n  svc ledger list\n  svc ledger list --status Settled --all -o csv\n')
    .action(action(runtime, ListOptions, list))
  filtered(
    ledger
      .command('export')
      .description('write the whole ledger page by page, as CSV (RFC 4180) or with -o json or jsonl'),
  )
    .optionsGroup('Output:')
    .option('--file <path>', 'write here; the file is there only once it is whole (standard output, which - is too)')
    .option('--force', 'replace the file where there is one')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ledger export > ledger.csv\n  svc ledger export -o jsonl | jq .payout_amount\n  svc ledger export --file november.csv --since 2026-11-01 --until 2026-12-01\n',
    )
    .action(action(runtime, ExportOptions, exportAll))
}
