import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { signBody, verifySignature } from '../../src/lib/webhook-signature.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'

export const SignOptions = z.object({ bodyFile: z.string().optional(), secretStdin: z.boolean().default(false) })
export const VerifyOptions = SignOptions.extend({ signature: z.string() })

// Far above any webhook; a larger input is a mistake.
const INPUT_BYTES_MAX = 16 * 1024 * 1024
const LINE_FEED = 0x0a

export async function sign(
  context: Context,
  { options }: CommandInput<z.infer<typeof SignOptions>>,
): Promise<CommandResult> {
  const signature = signBody(await readSigned(context.io, options))
  context.print.record({ item: { signature }, id: signature, lines: [['X-Service-Signature', signature]] })
  return undefined
}

/** A wrong signature is exit code 3: the check failed, the command did not. */
export async function verify(
  context: Context,
  { options }: CommandInput<z.infer<typeof VerifyOptions>>,
): Promise<CommandResult> {
  const { secret, body } = await readSigned(context.io, options)
  const signature = options.signature.trim()
  const valid = verifySignature({ secret, body, signature })
  if (!valid) throw SIGNATURE.test(signature) ? notOfBody(body) : notASignature(signature)
  context.print.record({
    item: { valid, bytes: body.length },
    id: 'valid',
    lines: [['Signature', `valid for these ${body.length} bytes`]],
  })
  return undefined
}

const SIGNATURE = /^[0-9a-f]{64}$/

function notOfBody(body: Buffer): CliError {
  return new CliError('SIGNATURE_INVALID', `the signature is not that of these ${body.length} bytes with this secret`, {
    exit: EXIT.assertion,
    hint: "the body exactly as it arrived (not parsed and written again), and the merchant's present secret",
  })
}

function notASignature(text: string): CliError {
  return new CliError('SIGNATURE_INVALID', `"${text}" is not a signature of 64 lower-case hexadecimal digits`, {
    exit: EXIT.assertion,
    hint: 'the whole value of X-Service-Signature; that of webhook-signature is another',
  })
}

/** The secret and the body's bytes. With `--secret-stdin` the first line of standard input is the secret. */
async function readSigned(io: Io, options: z.infer<typeof SignOptions>): Promise<{ secret: string; body: Buffer }> {
  const needsStdin = options.secretStdin || options.bodyFile === undefined
  if (needsStdin && io.stdin.isTTY)
    io.stderr.write(`Reading the ${options.secretStdin ? 'secret' : 'body'} from standard input; end it with Ctrl+D.\n`)
  const input = needsStdin ? await io.stdin.read(INPUT_BYTES_MAX) : Buffer.alloc(0)
  const { firstLine, rest } = options.secretStdin
    ? splitLine(input)
    : { firstLine: io.env['SVC_WEBHOOK_SECRET'] ?? '', rest: input }
  if (firstLine === '')
    throw usageError('no secret was given', 'SVC_WEBHOOK_SECRET in the environment, or --secret-stdin')
  return { secret: firstLine, body: options.bodyFile === undefined ? rest : await readBody(io, options.bodyFile) }
}

function splitLine(input: Buffer): { firstLine: string; rest: Buffer } {
  const at = input.indexOf(LINE_FEED)
  const line = at === -1 ? input : input.subarray(0, at)
  return { firstLine: line.toString('utf8').trim(), rest: at === -1 ? Buffer.alloc(0) : input.subarray(at + 1) }
}

async function readBody(io: Io, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, file))
  } catch (cause) {
    throw new CliError(
      'USAGE',
      `--body-file: can't read ${file} (${cause instanceof Error ? cause.message : String(cause)})`,
      { exit: EXIT.usage, cause },
    )
  }
}
