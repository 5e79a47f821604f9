import { EXIT } from './exit-codes.ts'

export type Sink = {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns: number
  /** How many lines the terminal has; undefined where it is none, or pages are not wanted. */
  readonly rows?: number | undefined
  /** Whether its reader has gone; a command that would run for ever then has to end. */
  readonly isGone?: boolean
  /**
   * Waits until all that was written is out, and answers what kept it from that. A caller that asks right
   * after writing reports it; otherwise the stream does. Without this nothing can fail.
   */
  failure?(): Promise<NodeJS.ErrnoException | undefined>
}

/** A stream of the process. A reader that has gone (`svc ... | head`) is no failure: the rest is dropped. */
export function sinkOf(stream: NodeJS.WriteStream): Sink {
  let failed: NodeJS.ErrnoException | undefined
  let isAsked = false

  function onError(error: NodeJS.ErrnoException): void {
    if (failed === undefined && error.code !== 'EPIPE' && !isAsked) reportUnwritten(stream, error)
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

/** A library that writes logs throws the errors of our streams where they can't be caught: they are reported here. */
function dropStrangers(stream: NodeJS.WriteStream): void {
  for (const listener of stream.listeners('error'))
    if (!OURS.has(listener as (error: Error) => void)) stream.off('error', listener as (error: Error) => void)
}

/**
 * Reports that what is printed can't be written, such as on a full disk: half a result is a failure, whatever the
 * command itself comes to. A stream's error can't be caught, so it is no CliError.
 */
function reportUnwritten(stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  if (stream === process.stderr) return
  process.once('exit', () => {
    process.exitCode = EXIT.failure
  })
  process.stderr.write(`Error: ${unwrittenText(error)}\n`)
}

export function unwrittenText({ code, message }: NodeJS.ErrnoException): string {
  const why =
    code === 'ENOSPC'
      ? 'no space is left where it goes (ENOSPC)'
      : code === 'EPIPE'
        ? 'its reader has gone (EPIPE)'
        : message
  return `the result can't be written: ${why}`
}
