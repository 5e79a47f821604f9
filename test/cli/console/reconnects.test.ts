import t from 'tap'
import { merchantOf, pageOf } from '../admin-harness.ts'
import { liveService } from './live-service.ts'

t.test('each connection begins with what happened before it: one whose token ends was not even lost', async (t) => {
  const end = { code: 'TOKEN_EXPIRED', message: 'the token has ended' }
  let readings = 0
  const service = await liveService(t, [], ({ path, headers }) => {
    if (headers.accept === 'text/event-stream') {
      const text = `id: a1\n\nevent: end\ndata: ${JSON.stringify(end)}\n\n`
      return { text, headers: { 'content-type': 'text/event-stream' } }
    }
    if (!path.startsWith('/api/v1/admin/merchants?')) return undefined
    readings += 1
    // The first is because it is shown, the second because the stream is there.
    return pageOf(readings <= 2 ? [] : [merchantOf()])
  })
  const console = service.open({ words: ['--interval', '5m'] })
  await console.until(/No merchant waits for a decision/)
  await console.until(/Acme +acme/)
  t.notMatch(console.text(), /stale/)
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true })
})
