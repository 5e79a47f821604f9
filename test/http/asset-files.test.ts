import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { ASSETS, makeSendAsset } from '../../src/http/asset-files.ts'
import { ensureBuilt } from '../support/built.ts'

ensureBuilt('widget')

/** The status of a file that was written after the service had started. */
async function statusOfLater({ isChanging }: { isChanging: boolean }): Promise<{ later: number; built: number }> {
  const send = makeSendAsset({ isChanging })
  const server = createServer((req, res) => {
    send(req, res, { path: (req.url ?? '').slice(1), headers: {}, missing: () => res.writeHead(404).end() })
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
