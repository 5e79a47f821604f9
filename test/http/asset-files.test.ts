import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { ASSETS, makeSendAsset } from '../../src/http/asset-files.ts'
import { ensureBuilt } from '../support/built.ts'
import { rawSocket } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

ensureBuilt('widget')

const FILE = `later-${process.pid}.css`

/** Serves the files of the build; `seen` gets each response's file, and the failures. */
async function serveFiles(t: Test, { isChanging, content }: { isChanging: boolean; content: string }) {
  writeFileSync(join(ASSETS, FILE), content)
  t.teardown(() => rmSync(join(ASSETS, FILE), { force: true }))
  const send = makeSendAsset({ isChanging })
  const seen: { files: Readable[]; failures: NodeJS.ErrnoException[] } = { files: [], failures: [] }
  const server = createServer((req, res) => {
    res.once('pipe', (file: Readable) => seen.files.push(file))
    send(req, res, { path: (req.url ?? '').slice(1), headers: {}, missing: () => res.writeHead(404).end() }).catch(
      (error: NodeJS.ErrnoException) => {
        seen.failures.push(error)
        res.destroy()
      },
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}

/** The status of a file that was written after the service had started. */
async function statusOfLater({ isChanging }: { isChanging: boolean }): Promise<{ later: number; built: number }> {
  const send = makeSendAsset({ isChanging })
  const server = createServer((req, res) => {
    void send(req, res, { path: (req.url ?? '').slice(1), headers: {}, missing: () => res.writeHead(404).end() })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const file = `later-${process.pid}.css`
  writeFileSync(join(ASSETS, file), 'p { margin: 0 }')
  try {
    const { port } = server.address() as AddressInfo
    const statusOf = async (path: string): Promise<number> => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/${path}`)
      await body.dump()
      return statusCode
    }
    return { later: await statusOf(file), built: await statusOf('widget.js') }
  } finally {
    rmSync(join(ASSETS, file), { force: true })
    server.close()
  }
}

t.test('in live mode the files are those of the start; in the sandbox the disk is read each time', async (t) => {
  t.same(await statusOfLater({ isChanging: false }), { later: 404, built: 200 })
  t.same(await statusOfLater({ isChanging: true }), { later: 200, built: 200 })
})

/** More than the buffers of a connection take. */
const BIG = 'x'.repeat(16 * 1024 * 1024)

t.test('the file of a client that has gone is closed', async (t) => {
  for (const count of [1, 5]) {
    const { port, seen } = await serveFiles(t, { isChanging: false, content: BIG })
    const socket = rawSocket(port)
    socket.write(`GET /${FILE} HTTP/1.1\r\nHost: a.example\r\n\r\n`.repeat(count))
    await once(socket, 'data')
    socket.resetAndDestroy()
    await until('every file is closed', () => seen.files.length > 0 && seen.files.every(({ closed }) => closed))
    t.same(seen.failures, [], `${count} requests on the connection`)
  }
})

t.test('a file that is gone since the start fails its own request', async (t) => {
  const { port, seen } = await serveFiles(t, { isChanging: false, content: 'p { margin: 0 }' })
  rmSync(join(ASSETS, FILE))
  await t.rejects(request(`http://127.0.0.1:${port}/${FILE}`), { code: 'UND_ERR_SOCKET' })
  t.match(seen.failures, [{ code: 'ENOENT' }])
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/widget.js`)
  await body.dump()
  t.equal(statusCode, 200)
})
