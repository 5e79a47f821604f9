import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Pkcs12Error, readPkcs12 } from '../../src/lib/pkcs12.ts'

/** Made by `openssl pkcs12 -export` of one certificate and its key. */
const fileOf = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../support/pkcs12', `${name}.p12`))
const PASSPHRASE = 'hunter-2'

for (const name of ['aes', 'triple-des'])
  t.test(`certificate and key are read, and belong together: ${name}`, async (t) => {
    const { cert, key } = readPkcs12(fileOf(name), PASSPHRASE)
    const certificate = new X509Certificate(cert)
    t.match(certificate.subject, 'CN=mdlsvc')
    t.ok(certificate.checkPrivateKey(createPrivateKey(key)))
  })

const aes = fileOf('aes')
const REFUSED: readonly [what: string, file: Buffer, passphrase: string, message: RegExp][] = [
  ['a wrong passphrase', aes, 'hunter-3', /^the passphrase is wrong$/],
  ['none where there is one', aes, '', /^the passphrase is wrong$/],
  ['a cipher that is no longer read', fileOf('rc2'), PASSPHRASE, /export it again, with AES/],
  ['a file without a key', fileOf('without-key'), PASSPHRASE, /^is not a PKCS#12 file with a certificate and its key$/],
  ['half a file', aes.subarray(0, 1_300), PASSPHRASE, /^is not a PKCS#12 file/],
  ['another file', Buffer.from('-----BEGIN CERTIFICATE-----'), PASSPHRASE, /^is not a PKCS#12 file/],
]
for (const [what, file, passphrase, message] of REFUSED)
  t.test(`refused, without what is in it: ${what}`, async (t) => {
    t.throws(() => readPkcs12(file, passphrase), { name: 'Pkcs12Error', message })
    try {
      readPkcs12(file, passphrase)
    } catch (error) {
      t.type(error, Pkcs12Error)
      t.notMatch(String(error), /hunter/)
    }
  })
