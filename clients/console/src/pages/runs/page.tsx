export function Page() {
  return <h1>Runs</h1>
}
