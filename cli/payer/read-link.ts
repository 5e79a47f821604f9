import { PAYER_LINK } from '../client/error-hints.ts'
import { usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'

const LINK_BYTES_MAX = 8_192

/** A link from the command line, standard input, or a person at the terminal. @throws {CliError} where there is none */
export async function readLink(io: Io, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given
  if (given === undefined && !io.stdin.isTTY)
    throw usageError('which link? None was given', 'svc payer verify - < link.txt')
  if (io.stdin.isTTY) io.stderr.write('The link, or the token in it: ')
  const text = io.stdin.isTTY ? await io.stdin.readLine() : (await io.stdin.read(LINK_BYTES_MAX)).toString('utf8')
  const link = text?.trim() ?? ''
  if (link === '') throw usageError('there is no link in what was read')
  return link
}

const TOKEN = /^[\w-]{16,256}$/

/**
 * The token of a link, wherever in it that stands; a token alone as it is.
 * @throws {CliError} exit code 2; the message repeats nothing of it
 */
export function tokenOf(text: string): string {
  const token = URL.canParse(text) ? tokenIn(new URL(text)) : text
  if (token !== undefined && TOKEN.test(token)) return token
  throw usageError('that is no link of the payer hub, and no token of one', PAYER_LINK)
}

/** The token in a link; undefined where the link is about something else. */
export function tokenIn({ hash, searchParams }: URL): string | undefined {
  const fragment = hash.slice(1)
  return (
    new URLSearchParams(fragment).get('token') ??
    searchParams.get('token') ??
    (TOKEN.test(fragment) ? fragment : undefined)
  )
}
