import type { Command } from 'commander'
import { z } from 'zod'
import { changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { aboutDispute, disputeFilters } from './commands.ts'
import { ListOptions } from './read.ts'
import { paged } from '../kit/paging.ts'
import { AcceptOptions, EvidenceOptions, accept, evidence, list, show } from './portal-disputes.ts'

/** `svc portal`: what a merchant's people do in their portal and no other noun has. */
export function addPortal(portal: Command, runtime: Runtime): void {
  portal.addHelpText('after', '\nExamples:\n  svc portal disputes list --status OPEN\n')
  const disputes = portal
    .command('disputes')
    .helpCommand(false)
    .description("see your payments' disputes, and answer them")
    .addHelpText(
      'after',
      '\nExamples:\n  svc portal disputes list --status OPEN\n  svc portal disputes evidence a2b4358c --file proof.txt\n',
    )
  paged(disputeFilters(disputes.command('list').description('list your disputes, the newest first')))
    .addHelpText(
      'after',
      '\nExamples:\n  svc portal disputes list --status OPEN\n  svc portal disputes list --since 30d --all -o csv > disputes.csv\n',
    )
    .action(action(runtime, ListOptions, list))
  aboutDispute(disputes.command('show'))
    .description('show a dispute: what each side says, and until when you may answer')
    .addHelpText('after', '\nExamples:\n  svc portal disputes show a2b4358c\n')
    .action(action(runtime, z.object({}), show))
  addAnswers(disputes, runtime)
}

const EVIDENCE_HELP = `
Without --text and --file your editor opens (VISUAL, EDITOR), with the facts of the dispute below what you write. What
you said before stays: more is added to it. After the dispute is resolved nothing can be added.

Examples:
  svc portal disputes evidence a2b4358c
  svc portal disputes evidence a2b4358c --text "delivered on 3 May, signed for by the payer"
  svc portal disputes evidence a2b4358c --file proof.txt
`

function addAnswers(disputes: Command, runtime: Runtime): void {
  changing(aboutDispute(disputes.command('evidence')))
    .description('say what speaks for you; the dispute is under review then')
    .option('--text <words>', 'your evidence')
    .option('--file <path>', 'the same from a file; - is standard input')
    .addHelpText('after', EVIDENCE_HELP)
    .action(action(runtime, EvidenceOptions, evidence))
  dangerous(aboutDispute(disputes.command('accept')))
    .description("accept a dispute: it is resolved in the payer's favour, and over")
    .option('--refund', 'give the payer back what is left of the payment')
    .option('--note <text>', 'what the payer is told')
    .addHelpText(
      'after',
      '\nExamples:\n  svc portal disputes accept a2b4358c --refund\n  svc portal disputes accept a2b4358c --note "refunded in cash" --dry-run\n',
    )
    .action(action(runtime, AcceptOptions, accept))
}
