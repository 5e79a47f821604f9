import type { Command } from 'commander'
import { action, durationOf } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { z } from 'zod'
import { Mail, getMail, listMails } from '../../src/wire/mails.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isLive } from '../client/auth/service-info.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { endOfId, minuteOf, printable, shortTime } from '../base/text.ts'
import { askUntil } from '../kit/wait.ts'
import { subcommand } from '../kit/option-values.ts'

/** `svc sandbox mail`: what the sandbox would have sent. It is how a developer opens an invitation. */
export function addMail(sandbox: Command, runtime: Runtime): void {
  const mail = subcommand(sandbox, 'mail', "Read the sandbox's mail")
  mail.addHelpText('after', '\nExamples:\n  svc sandbox mail show --recipient ada@acme.example --links --wait 10s\n')
  subcommand(mail, 'list', 'List the last 50 mails, newest first')
    .option('--recipient <address>', 'Filter by recipient')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox mail list\n  svc sandbox mail list --recipient ada@acme.example\n',
    )
    .action(action(runtime, ListOptions, list))
  subcommand(mail, 'show', 'Print a mail and its links')
    .argument('[mail]', 'Its id, or at least its last 8 characters (the newest)')
    .option('--recipient <address>', 'Newest mail to this address')
    .option('--links', 'Print only the links, one per line')
    .option('--wait <duration>', 'Wait this long for it to arrive', '0s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox mail show --links\n  svc sandbox mail show --recipient ada@acme.example --links --wait 10s\n',
    )
    .action(action(runtime, ShowOptions, show))
}

const ListOptions = z.object({ recipient: z.string().optional() })

async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const { recipient } = options
  const client = context.client()
  await refuseLive(client)
  context.print.list({
    items: await mailsTo(client, recipient),
    fields: Object.keys(Mail.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'to', value: (row) => row.recipient, least: 16 },
      { title: 'subject', value: (row) => row.subject, least: 16 },
      { title: 'status', value: (row) => row.status },
      { title: 'made', value: (row) => shortTime(row.created_at), short: minuteOf, dropped: 2 },
      { title: 'last error', value: (row) => row.last_error ?? '', dropped: 1, least: 16 },
    ],
    id: (row) => row.id,
    empty: recipient === undefined ? 'No mail.' : `No mail to ${printable(recipient)}.`,
  })
}

/** @throws {CliError} NO_MAIL_KEPT, exit code 6, in live mode */
async function refuseLive(client: Client): Promise<void> {
  if (!(await isLive(client))) return
  throw new CliError('NO_MAIL_KEPT', `${client.apiUrl} is live: it sends its mail, and keeps none to be read here`, {
    exit: EXIT.notFound,
    hint: 'the mailbox it went to; svc merchants registrations lists invitations that did not go out',
  })
}

async function mailsTo(client: Client, recipient: string | undefined): Promise<Mail[]> {
  const query = recipient === undefined ? {} : { recipient: recipient.toLowerCase() }
  return (await call(client, listMails, { query })).body.data
}

const ShowOptions = z.object({
  recipient: z.string().optional(),
  links: z.boolean().default(false),
  wait: z.string(),
})

async function show(context: Context, { args, options }: InputOf<typeof ShowOptions>): Promise<CommandResult> {
  const [given] = args
  if (given !== undefined && options.recipient !== undefined)
    throw usageError('give either a mail or --recipient', 'svc sandbox mail show --recipient ada@acme.example')
  const timeoutMs = durationOf(options.wait, '--wait')
  const client = context.client()
  await refuseLive(client)
  const id =
    given === undefined
      ? await newestId(client, options.recipient, timeoutMs)
      : await resolveId(given, 'mail', async function* ids() {
          for (const mail of await mailsTo(client, undefined)) yield mail.id
        })
  const { body: mail } = await call(client, getMail, { params: { id } })
  if (!options.links) printMail(context, mail)
  else if (context.print.isMachine) printLinks(context, mail)
  else context.io.stdout.write(mail.links.map((link) => `${printable(link)}\n`).join(''))
}

/** Mail is written by the worker, shortly after what it is about. */
async function newestId(client: Client, recipient: string | undefined, timeoutMs: number): Promise<string> {
  const mails = await askUntil(
    () => mailsTo(client, recipient),
    (found) => found.length > 0,
    timeoutMs,
  )
  const [newest] = mails
  if (newest !== undefined) return newest.id
  throw new CliError('NOT_FOUND', recipient === undefined ? 'there is no mail' : `there is no mail to ${recipient}`, {
    exit: EXIT.notFound,
    hint: 'svc sandbox mail list\nmail comes shortly after what it is about: the same command with --wait 10s',
    retryable: true,
  })
}

type MailWithBody = OperationReply<typeof getMail>['body']

function printLinks({ print }: Context, { id, links }: MailWithBody): void {
  print.list({
    items: links.map((link) => ({ link })),
    fields: ['link'],
    columns: [],
    id: ({ link }) => link,
    empty: `There are no links in ${id}.`,
  })
}

function printMail({ print }: Context, mail: MailWithBody): void {
  print.record({
    item: mail,
    id: mail.id,
    lines: [
      ['Mail', mail.id],
      ['To', mail.recipient],
      ['Subject', mail.subject],
      ['Status', mail.status],
      ['Made', shortTime(mail.created_at)],
      ['Last error', mail.last_error ?? ''],
    ],
    after: printable(mail.body, 'lines'),
  })
}
