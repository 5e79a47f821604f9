import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { realmOfClientId } from '../../src/lib/realms.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { readServiceState } from '../client/service-state.ts'

const SECRET_BYTES_MAX = 4_096

type Wish = {
  sign: boolean
  unsigned: boolean
  secretFile?: string | undefined
  live: boolean
  /** The command that makes a signed one. */
  instead: string
}

/**
 * What a token is signed with; undefined where it shall not be, or in the sandbox can't be.
 * @throws {CliError} exit code 2 where a signature is asked for, or a live service needs one, and no secret is known
 */
export async function secretToSign(context: Context, client: Client, wish: Wish): Promise<string | undefined> {
  const { sign, unsigned, live } = wish
  if (unsigned && live)
    throw new CliError('SIGNATURE_NEEDED', `${client.apiUrl} is live: it takes no token without a signature`, {
      exit: EXIT.usage,
      hint: giving(wish.instead),
    })
  if (unsigned) return undefined
  const secret = (await secretOfFile(context.io, wish.secretFile)) ?? findSecret(context, client)?.read()
  if (secret !== undefined) return secret
  if (sign || live)
    throw new CliError(
      live ? 'SIGNATURE_NEEDED' : 'USAGE',
      live
        ? `${client.apiUrl} is live: it takes no token without a signature, and no signing secret was given`
        : 'there is no secret to sign with',
      { exit: EXIT.usage, hint: `${giving(wish.instead)}\nwhere it was lost: svc secret rotate` },
    )
  context.note('Not signed, for no signing secret is known here: the sandbox takes the token, live mode would not.')
  return undefined
}

function giving(instead: string): string {
  return `with the secret in a file: ${instead}\nor the same with SVC_WEBHOOK_SECRET in the environment`
}

/**
 * What the signature of a token is held against, without asking any service; undefined where no secret is known.
 * @param clientId the merchant's, as the token says: the secret of svc.json is that of one merchant alone
 */
export async function secretToVerify(
  { io, stateDir }: Context,
  { secretFile, clientId }: { secretFile: string | undefined; clientId: string | undefined },
): Promise<string | undefined> {
  const given = (await secretOfFile(io, secretFile)) ?? (io.env['SVC_WEBHOOK_SECRET'] || undefined)
  const demo = readServiceState(stateDir)?.merchant
  if (given !== undefined || demo === undefined || clientId === undefined) return given
  const isIts = clientId === demo.client_id || realmOfClientId(clientId) === demo.realm
  return isIts ? demo.webhook_secret : undefined
}

async function secretOfFile(io: Io, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const bytes = file === '-' ? await io.stdin.read(SECRET_BYTES_MAX) : await readSecret(resolve(io.cwd, file))
  const secret = bytes.toString('utf8').trim()
  if (secret === '') throw usageError('--secret-file: there is no secret in it')
  return secret
}

async function readSecret(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    // What was given may be the secret itself, put in the wrong place: it is not repeated.
    throw new CliError('USAGE', "--secret-file: can't read the file that it names", { exit: EXIT.usage, cause })
  }
}
