import { getMail, listMails } from '../../../src/wire/mails.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { tokenOfHub } from '../../payer/sign-in.ts'
import type { CaseRun } from '../play/case-run.ts'

/** The messages that a contact has in the sandbox's outbox. */
export async function seenMails(run: CaseRun, recipient: string): Promise<ReadonlySet<string>> {
  const { body } = await call(quiet(run), listMails, { query: { recipient } })
  return new Set(body.data.map(({ id }) => id))
}

/** The token of a link that came since; undefined as long as there is none. */
export async function newLinkOf(
  run: CaseRun,
  { recipient, seen }: { recipient: string; seen: ReadonlySet<string> },
): Promise<string | undefined> {
  const { data } = (await call(quiet(run), listMails, { query: { recipient } })).body
  for (const { id } of data.filter((mail) => !seen.has(mail.id))) {
    const { links } = (await call(quiet(run), getMail, { params: { id } })).body
    const token = links.map((link) => tokenOfHub(link)).find((each) => each !== undefined)
    if (token !== undefined) return token
  }
  return undefined
}

/** What stands in a message signs its reader in: no report may show it. */
function quiet({ client }: CaseRun): Client {
  return { ...client, onExchange: undefined }
}
