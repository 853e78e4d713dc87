export function Cycles() {
  return (
    <>
      <title>Cycles · Covenant</title>
      <h1>Cycles</h1>
    </>
  );
}
