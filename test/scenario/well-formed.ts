const TAG = /^<(\/?)([A-Za-z_][\w.-]*)((?:\s+[\w.:-]+="[^"<]*")*)\s*(\/?)>/

/**
 * Throws unless the text is a well-formed XML document, as far as elements, attributes, references and characters go.
 */
export function assertWellFormed(xml: string): void {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml))
    throw new Error("a character that XML can't hold")
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(xml)) throw new Error('a bare &')
  let rest = xml.replace(/^<\?xml [^?]*\?>\s*/, '')
  const open: string[] = []
  let roots = 0
  while (rest !== '') {
    const text = /^[^<]+/.exec(rest)?.[0]
    if (text !== undefined) {
      if (open.length === 0 && text.trim() !== '') throw new Error('text outside the root')
      if (text.includes(']]>')) throw new Error(']]> in text')
      rest = rest.slice(text.length)
      continue
    }
    const [tag, closes, name, , isEmpty] = TAG.exec(rest) ?? []
    if (tag === undefined || name === undefined) throw new Error(`no tag: ${rest.slice(0, 40)}`)
    if (closes === '/' && open.pop() !== name) throw new Error(`</${name}> closes nothing`)
    if (closes === '' && open.length === 0) roots += 1
    if (closes === '' && isEmpty === '') open.push(name)
    rest = rest.slice(tag.length)
  }
  if (open.length > 0 || roots !== 1) throw new Error('not one root that is closed')
}
