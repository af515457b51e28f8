import stringWidth from 'string-width'
import { parseSearch } from '../../../schemas/runs/parse-search.ts'
import { SearchFault } from '../../../schemas/runs/search.ts'
import { usageFailure } from '../program/failure.ts'

/**
 * The words of a search as one text. The shell has removed quotes, so a word with a space is quoted again unless it is itself a search.
 */
export function searchOf(words: readonly string[]): string {
  const text = words.length === 1 ? String(words[0]) : words.map(again).join(' ')
  try {
    parseSearch(text)
    return text
  } catch (error) {
    if (!(error instanceof SearchFault)) throw error
    const indent = ' '.repeat(stringWidth(text.slice(0, error.at)))
    throw usageFailure(error.message, text, `${indent}^`)
  }
}

/** `hparams.opt=my adam` becomes `hparams.opt="my adam"`. */
function again(word: string): string {
  if (!/\s/.test(word) || /["()]/.test(word)) return word
  const [, name = '', value = word] = /^([^\s:<>=!]+[:<>=!]+)(.*)$/s.exec(word) ?? []
  return `${name}"${value}"`
}
