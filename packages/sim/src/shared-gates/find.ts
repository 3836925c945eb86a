import { plantBroker } from "./plant.ts";
import { PLANTED } from "./planted.ts";
import { runWorld } from "./world.ts";

const only = process.argv[2];
for (const [name, bug] of Object.entries(PLANTED)) {
  if (only && !name.includes(only)) continue;
  const module = await plantBroker(bug);
  const found: string[] = [];
  const t = performance.now();
  let seed = bug.seed;
  for (
    ;
    seed < 2000 && performance.now() - t < Number(process.argv[3] ?? 25000) && found.length < 3;
    seed++
  ) {
    const { failures } = await runWorld({ seed, module });
    if (failures.length) found.push(`${seed}: ${failures[0]!.slice(0, 90)}`);
  }
  console.log(name, seed, found);
}
process.exit(0);
