import { blocksOf, readPage } from './markdown.ts'

type Result = Record<string, unknown>
type Documented = {
  readResult(address: string, secret: string): Result | undefined
  isPaid(result: Result | undefined, order: { id: string; amount: string; currency: string }): boolean
}

/** The functions that the documentation gives merchants for the result in an address, as they stand there. */
export async function documentedResult(): Promise<Documented> {
  const page = readPage('docs/merchants/checkout.md')
  const blocks = blocksOf(page).filter(({ language, text }) => language === 'js' && text.includes('readResult'))
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new Error(`${page.path} has ${blocks.length} blocks of readResult`)
  const program = `${block.text}\nexport { isPaid, readResult }`
  return import(`data:text/javascript,${encodeURIComponent(program)}`)
}
