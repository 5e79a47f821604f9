import t from 'tap'
import { clientAddressOf } from '../../src/lib/client-address.ts'

t.test("the address of a request is the socket's, or behind a trusted proxy the one from the last hop", async (t) => {
  const address = (remoteAddress: string | undefined, forwarded: string | undefined, trustProxy: boolean): string =>
    clientAddressOf({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }, trustProxy)
  t.equal(address('203.0.113.7', undefined, false), '203.0.113.7')
  t.equal(address('203.0.113.7', '198.51.100.1', false), '203.0.113.7', 'anyone can send the header')
  t.equal(address('10.0.0.1', '198.51.100.1', true), '198.51.100.1')
  t.equal(address('10.0.0.1', '1.1.1.1, 2.2.2.2 , 198.51.100.1', true), '198.51.100.1', 'only the last is the proxy’s')
  t.equal(address('10.0.0.1', '2001:db8::1', true), '2001:db8::1')
  for (const nonsense of ['unknown', '', '1.2.3.4:80', 'evil\nheader'])
    t.equal(address('10.0.0.1', nonsense, true), '10.0.0.1')
  t.equal(address('::ffff:203.0.113.7', undefined, false), '203.0.113.7')
  t.equal(address(undefined, undefined, false), '')
})
