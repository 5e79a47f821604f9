import { Mail, getMail, listMails } from '../../src/wire/mails.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import { CliError, usageError } from '../base/errors.ts'
import { endOfId, minuteOf, printable, shortTime } from '../base/text.ts'
import { isLive } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { askUntil } from '../kit/wait.ts'

const list = command({
  command: 'sandbox mail list',
  summary: 'List the last 50 mails, newest first',
  examples: ['svc sandbox mail list', 'svc sandbox mail list --recipient ada@acme.example'],
  flags: { recipient: { value: 'address', summary: 'Filter by recipient' } },
  async run(context, input) {
    const { recipient } = input
    const client = context.client()
    await refuseLive(client)
    context.print.list(await mailsTo(client, recipient), {
      fields: Mail,
      columns: [
        { title: 'id', value: (row) => row.id, short: endOfId },
        { title: 'to', value: (row) => row.recipient, least: 16 },
        { title: 'subject', value: (row) => row.subject, least: 16 },
        { title: 'status', value: (row) => row.status },
        { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf, dropped: 2 },
        { title: 'last error', value: (row) => row.last_error ?? '', dropped: 1, least: 16 },
      ],
      empty: recipient === undefined ? 'No mail.' : `No mail to ${printable(recipient)}.`,
    })
  },
})

/** @throws {CliError} NO_MAIL_KEPT, exit code 6, in live mode */
async function refuseLive(client: Client): Promise<void> {
  if (!(await isLive(client))) return
  throw new CliError('NO_MAIL_KEPT', `${client.apiUrl} is live: it sends its mail, and keeps none to be read here`, {
    hint: 'the mailbox it went to; svc merchants registrations lists invitations that did not go out',
  })
}

async function mailsTo(client: Client, recipient: string | undefined): Promise<Mail[]> {
  const query = recipient === undefined ? {} : { recipient: recipient.toLowerCase() }
  return (await call(client, listMails, { query })).body.data
}

const show = command({
  command: 'sandbox mail show',
  summary: 'Print a mail and its links',
  examples: ['svc sandbox mail show --links', 'svc sandbox mail show --recipient ada@acme.example --links --wait 10s'],
  flags: {
    mail: { value: 'mail', summary: 'Its id, or at least its last 8 characters (the newest)', positional: true },
    recipient: { value: 'address', summary: 'Newest mail to this address' },
    links: { summary: 'Print only the links, one per line' },
    wait: { value: 'duration', summary: 'Wait this long for it to arrive', initial: '0s' },
  },
  async run(context, input) {
    const { mail: given } = input
    if (given !== undefined && input.recipient !== undefined)
      throw usageError('give either a mail or --recipient', 'svc sandbox mail show --recipient ada@acme.example')
    const timeoutMs = durationOf(input.wait, '--wait')
    const client = context.client()
    await refuseLive(client)
    const id =
      given === undefined
        ? await newestId(client, input.recipient, timeoutMs)
        : await resolveId(given, 'mail', async () => (await mailsTo(client, undefined)).map((mail) => mail.id))
    const { body: mail } = await call(client, getMail, { params: { id } })
    if (!input.links) printMail(context, mail)
    else if (context.print.isMachine) printLinks(context, mail)
    else context.io.stdout.write(mail.links.map((link) => `${printable(link)}\n`).join(''))
  },
})

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
    hint: 'svc sandbox mail list\nmail comes shortly after what it is about: the same command with --wait 10s',
    retryable: true,
  })
}

type MailWithBody = OperationReply<typeof getMail>['body']

function printLinks({ print }: Context, { id, links }: MailWithBody): void {
  print.list(
    links.map((link) => ({ link })),
    { fields: ['link'], columns: [], id: ({ link }) => link, empty: `There are no links in ${id}.` },
  )
}

function printMail({ print }: Context, mail: MailWithBody): void {
  print.record(
    mail,
    [
      ['Mail', mail.id],
      ['To', mail.recipient],
      ['Subject', mail.subject],
      ['Status', mail.status],
      ['Created', shortTime(mail.created_at)],
      ['Last error', mail.last_error ?? ''],
    ],
    { after: printable(mail.body, 'lines') },
  )
}

export const MAIL = [
  {
    command: 'sandbox mail',
    summary: "Read the sandbox's mail",
    examples: ['svc sandbox mail show --recipient ada@acme.example --links --wait 10s'],
  },
  list,
  show,
]
