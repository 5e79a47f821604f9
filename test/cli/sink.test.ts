import { Writable } from 'node:stream'
import t from 'tap'
import { sinkOf } from '../../cli/base/sink.ts'

/** A stream of the process's kind that takes nothing: each write ends with this error at once, as those to a file do. */
function failing(code: string): NodeJS.WriteStream {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      done(chunk.length === 0 ? null : Object.assign(new Error(code), { code }))
    },
  })
  return Object.assign(stream, { isTTY: false, columns: 0 }) as unknown as NodeJS.WriteStream
}

t.test('each call that asks gets the reason why the output could not be written', async (t) => {
  for (const code of ['ENOSPC', 'EPIPE']) {
    const sink = sinkOf(failing(code))
    t.equal(await sink.failure?.(), undefined, 'nothing was written yet')
    sink.write('a result\n')
    t.match(await sink.failure?.(), { code })
    t.match(await sink.failure?.(), { code })
    sink.write('more\n')
    t.equal(sink.isGone, true)
  }
})

t.test('a listener of a library that throws what befalls the stream is not asked', async (t) => {
  const stream = failing('ENOSPC')
  const sink = sinkOf(stream)
  t.equal(await sink.failure?.(), undefined)
  stream.on('error', (error) => {
    throw error
  })
  sink.write('a result\n')
  t.match(await sink.failure?.(), { code: 'ENOSPC' }, 'where it were thrown, this process would have ended')
})

t.test('a failure to write after the last call is reported by itself', async (t) => {
  const stream = failing('ENOSPC')
  const sink = sinkOf(stream)
  t.equal(await sink.failure?.(), undefined)
  const exits = t.capture(process, 'once')
  const told = t.capture(process.stderr, 'write')
  sink.write('a result\n')
  await new Promise((done) => setImmediate(done))
  t.match(told(), [{ args: [/^Error: the result can't be written: no space is left/] }])
  t.match(exits(), [{ args: ['exit', Function] }], 'and the exit code says so')
})
