import { EXIT } from './exit-codes.ts'

/** One output stream of the process, or of a test. */
export type Sink = {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns: number
  /** How many lines the terminal has; undefined where it is none, or nobody pages through it. */
  readonly rows?: number | undefined
  /** Whether its reader has gone; a command that would run for ever then has nobody to run for. */
  readonly isGone?: boolean
  /**
   * Waits until all that was written is out, and answers what kept it from that. Whoever asks right after writing tells
   * it; otherwise it is told by itself. Without this nothing can fail.
   */
  failure?(): Promise<NodeJS.ErrnoException | undefined>
}

/** A stream of the process. A reader that has gone (`svc ... | head`) is no failure: the rest is dropped. */
export function sinkOf(stream: NodeJS.WriteStream): Sink {
  let failed: NodeJS.ErrnoException | undefined
  let isAsked = false

  function onError(error: NodeJS.ErrnoException): void {
    if (failed === undefined && error.code !== 'EPIPE' && !isAsked) tellUnwritten(stream, error)
    failed ??= error
  }
  OURS.add(onError)
  stream.on('error', onError)

  return {
    write(text) {
      if (failed !== undefined) return
      if (stream.listenerCount('error') > 1) dropStrangers(stream)
      stream.write(text)
    },
    isTTY: stream.isTTY === true,
    get columns() {
      // Some terminals, such as that of `script`, say that they have none.
      return stream.columns || 80
    },
    get rows() {
      return stream.rows
    },
    get isGone() {
      return failed !== undefined
    },
    async failure() {
      isAsked = true
      const { promise, resolve } = Promise.withResolvers<void>()
      if (failed === undefined) stream.write('', () => resolve())
      else resolve()
      await promise
      // The error of a write reaches its callback before it reaches the stream's listeners.
      await new Promise((done) => setImmediate(done))
      isAsked = false
      return failed
    },
  }
}

const OURS = new WeakSet<(error: NodeJS.ErrnoException) => void>()

/** A library that writes logs throws what befalls a stream of ours, so that nobody could catch it: we tell that. */
function dropStrangers(stream: NodeJS.WriteStream): void {
  for (const listener of stream.listeners('error'))
    if (!OURS.has(listener as (error: Error) => void)) stream.off('error', listener as (error: Error) => void)
}

/**
 * Tells that what is printed can't be written, such as on a full disk: half a result is a failure, whatever the command
 * itself comes to. A stream's error reaches nobody who could catch it, so it is no CliError.
 */
function tellUnwritten(stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  if (stream === process.stderr) return
  process.once('exit', () => {
    process.exitCode = EXIT.failure
  })
  process.stderr.write(`Error: ${unwrittenText(error)}\n`)
}

/** Why a result is not where it was to go. */
export function unwrittenText({ code, message }: NodeJS.ErrnoException): string {
  const why =
    code === 'ENOSPC'
      ? 'no space is left where it goes (ENOSPC)'
      : code === 'EPIPE'
        ? 'nobody reads it any more (EPIPE)'
        : message
  return `the result can't be written: ${why}`
}
