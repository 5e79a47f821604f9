import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { realmOfClientId } from '../../src/lib/realms.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { findSecret } from '../webhooks/listen-secret.ts'
import { readServiceState } from '../client/service-state.ts'

const SECRET_BYTES_MAX = 4_096

type Signing = { sign: boolean; unsigned: boolean; secretFile?: string | undefined; live: boolean }

/**
 * What a token is signed with; undefined where it shall not be, or in the sandbox can't be.
 * @throws {CliError} exit code 2 where a signature is asked for, or a live service needs one, and no secret is known
 */
export async function secretToSign(
  context: Context,
  client: Client,
  { sign, unsigned, secretFile, live }: Signing,
): Promise<string | undefined> {
  const secret = unsigned
    ? undefined
    : ((await secretOfFile(context.io, secretFile)) ?? findSecret(context, client)?.read())
  if (secret !== undefined) return secret
  const hint =
    '--secret-file secret.txt, or SVC_WEBHOOK_SECRET in the environment\nwhere it was lost: svc secret rotate'
  if (live)
    throw new CliError('SIGNATURE_NEEDED', `${client.apiUrl} is live: it takes no token without a signature`, {
      hint,
    })
  if (sign) throw usageError('there is no secret to sign with', hint)
  if (!unsigned)
    context.note('Not signed, for no signing secret is known here: the sandbox takes the token, live mode would not.')
  return undefined
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
    throw new CliError('USAGE', "--secret-file: can't read the file that it names", { cause })
  }
}
