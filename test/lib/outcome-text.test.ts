import t from 'tap'
import { outcomeText } from '../../src/lib/outcome-text.ts'

t.test('outcomes are described in words, and unknown ones are printed as they are', async (t) => {
  t.equal(outcomeText('connect'), 'connection refused or no route')
  t.equal(outcomeText('http_401'), 'answered 401: the receiver rejects the signature')
  t.equal(outcomeText('http_503'), 'answered 503')
  t.equal(outcomeText('teleported'), 'teleported')
  const codes = ['redirect', 'timeout', 'dns', 'connect', 'tls', 'blocked', 'reset', 'bad_response', 'worker_lost']
  for (const code of codes) t.match(outcomeText(code), / /, code)
})
