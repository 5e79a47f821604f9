import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { envWithoutTap } from '../support/built.ts'
import { installCheckoutPackage } from '../support/checkout-package.ts'

const shop = installCheckoutPackage(t, ['react', '@types/react', 'csstype', 'vue'])
const packages = createRequire(join(packageRoot(), 'package.json'))
const packed = join(shop.folder, 'node_modules', '@svc/checkout')

t.test('the packed package has its modules with their types, and nothing that leads out of it', async (t) => {
  t.same(shop.files.toSorted(), [
    'LICENSE',
    'README.md',
    'load-checkout.d.ts',
    'load-checkout.js',
    'misuse.d.ts',
    'misuse.js',
    'package.json',
    'react.d.ts',
    'react.js',
    'show-checkout.d.ts',
    'show-checkout.js',
    'types.d.ts',
    'vue.d.ts',
    'vue.js',
  ])
  const read = (name: string): string => readFileSync(join(packed, name), 'utf8')
  const code = shop.files.filter((name) => /\.(?:js|ts)$/.test(name))
  t.same(
    code.filter((name) => /\.\.\/|\.ts['"]/.test(read(name))),
    [],
  )
  const { name: own, version, exports, peerDependenciesMeta, private: isPrivate } = JSON.parse(read('package.json'))
  t.equal(isPrivate ?? false, !('repository' in packageFile), 'it is never published by accident')
  t.match(read('README.md'), 'Do not install it by its name')
  const file = `${own.slice(1).replace('/', '-')}-*.tgz`
  t.match(read('README.md'), `npm install ./${file}`, 'the file that npm pack makes')
  t.equal(version, packageFile.version)
  t.same(peerDependenciesMeta, { react: { optional: true }, vue: { optional: true } })
  const named = Object.values<string | Record<string, string>>(exports).flatMap((each) =>
    typeof each === 'string' ? [each] : Object.values(each),
  )
  t.same(
    named.filter((path) => !shop.files.includes(path.replace('./', ''))),
    [],
  )
  t.match(read('react.js'), /^'use client'/, 'a page of server components may use it')
  const { EVENTS } = await import(join(packed, 'show-checkout.js'))
  t.ok(Object.keys(EVENTS).length > 5)
  for (const name of Object.keys(EVENTS))
    t.match(read('README.md'), `\`on${name.slice(0, 1).toUpperCase()}${name.slice(1)}\``, name)
})

/** What a shop writes, right and wrong: each expected error is one. */
const SHOP = `
import { createElement } from 'react'
import { h } from 'vue'
import { loadCheckout } from '@svc/checkout'
import type { CheckoutEvents, Mounted } from '@svc/checkout'
import { SvcCheckout } from '@svc/checkout/react'
import type { SvcCheckoutProps } from '@svc/checkout/react'
import { SvcCheckout as VueCheckout } from '@svc/checkout/vue'

const token: string | null = null
export const props: SvcCheckoutProps = {
  origin: 'https://pay.example',
  token,
  appearance: { primary: '#003B2F', radius: 4, dark: { primary: '#8AB8FF' } },
  onSuccess: ({ endToEndId }) => endToEndId.toUpperCase(),
  onCancelled: ({ transactionId }) => transactionId?.length,
  onError: ({ message }) => message,
}
export const page = createElement(SvcCheckout, props)
export const vuePage = h(VueCheckout, {
  origin: 'https://pay.example',
  token,
  onBankSelected: ({ bankName }) => bankName.toUpperCase(),
})
export async function show(element: HTMLElement): Promise<Mounted | undefined> {
  const mounted = (await loadCheckout('https://pay.example'))?.mount(element, { token: 'TOKEN', theme: 'dark' })
  mounted?.on('SVC_PAYMENT_FAILED', ({ errorCode, message }) => message?.concat(errorCode))
  return mounted
}
export const resized: CheckoutEvents['SVC_RESIZE'] = { height: 560 }

// @ts-expect-error the service's address is needed
createElement(SvcCheckout, { token: 'TOKEN' })
// @ts-expect-error there is no such font
createElement(SvcCheckout, { origin: 'https://pay.example', appearance: { font: 'Comic Sans' } })
// @ts-expect-error there is no such member of the payload
createElement(SvcCheckout, { origin: 'https://pay.example', onSuccess: ({ amount }) => amount })
// @ts-expect-error the service's address is needed
h(VueCheckout, { token: 'TOKEN' })
// @ts-expect-error there is no such event
void loadCheckout('https://pay.example').then((checkout) => checkout?.mount('pay', { token: '' }).on('PAID', () => 0))
`

t.test('the types hold in a strict project, resolved as Node.js resolves them', async (t) => {
  writeFileSync(join(shop.folder, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(shop.folder, 'shop.ts'), SHOP)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  }
  writeFileSync(join(shop.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['shop.ts'] }))
  const compiler = join(dirname(packages.resolve('typescript/package.json')), 'bin', 'tsc')
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, compiler, '-p', shop.folder], {
    encoding: 'utf8',
    env: envWithoutTap(),
  })
  t.equal(stdout, '')
})

t.test('on a server there is nothing to load into, and nothing fails', async (t) => {
  const { loadCheckout } = await import(join(packed, 'load-checkout.js'))
  t.equal(await loadCheckout('https://pay.example'), null)
  const { renderToString } = await import(packages.resolve('react-dom/server'))
  const { createElement } = await import('react')
  const { SvcCheckout } = await import(join(packed, 'react.js'))
  t.match(
    renderToString(createElement(SvcCheckout, { origin: 'https://pay.example/', token: 'a+b' })),
    /<div style="min-height:560px"><a href="https:\/\/pay\.example\/checkout\?token=a%2Bb">Pay by bank on our page<\/a><\/div>/,
  )
  t.match(renderToString(createElement(SvcCheckout, { origin: 'https://pay.example' })), /^<div [^>]+><\/div>$/)
})
