import { Tokenizer } from '@huggingface/tokenizers'

/** Counts the tokens of a text. A chat template would add some, which are not counted. */
export type CountTokens = (text: string) => number

/** Throws if this is no `tokenizer.json` that the library can use. */
export function tokenCounter(json: object): CountTokens {
  const tokenizer = new Tokenizer(json, {})
  return text => tokenizer.encode(text, { add_special_tokens: false }).ids.length
}
