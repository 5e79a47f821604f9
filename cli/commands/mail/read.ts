import { z } from 'zod'
import { Mail, getMail, listMails } from '../../../src/wire/registration.ts'
import type { OperationReply } from '../../../src/wire/operation.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import { durationOf } from '../../context.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { CliError, usageError } from '../../errors.ts'
import { EXIT } from '../../exit-codes.ts'
import { resolveId } from '../../resolve-id.ts'
import { printable, shortTime } from '../../text.ts'
import { askUntil } from '../../wait.ts'

export const ListOptions = z.object({ recipient: z.string().optional() })

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  context.print.list({
    items: await mailsTo(context.client(), options.recipient),
    fields: Object.keys(Mail.shape),
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'to', value: (row) => row.recipient },
      { title: 'subject', value: (row) => row.subject },
      { title: 'status', value: (row) => row.status },
      { title: 'made', value: (row) => shortTime(row.created_at) },
      { title: 'last error', value: (row) => row.last_error ?? '' },
    ],
    id: (row) => row.id,
    empty: 'There is no such mail.',
  })
  return undefined
}

/** The newest first. */
async function mailsTo(client: Client, recipient: string | undefined): Promise<Mail[]> {
  const query = recipient === undefined ? {} : { recipient: recipient.toLowerCase() }
  return (await call(client, listMails, { query })).body.data
}

export const ShowOptions = z.object({
  recipient: z.string().optional(),
  links: z.boolean().default(false),
  wait: z.string(),
})

export async function show(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof ShowOptions>>,
): Promise<CommandResult> {
  const [given] = args
  if (given !== undefined && options.recipient !== undefined)
    throw usageError('give either a mail or --recipient', 'svc mail show --recipient ada@acme.example')
  const timeoutMs = durationOf(options.wait, '--wait')
  const client = context.client()
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
  return undefined
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
    hint: 'svc mail list; mail comes shortly after what it is about: --wait 10s',
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
