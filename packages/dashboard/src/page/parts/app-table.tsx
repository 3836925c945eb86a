/** A table of an app's page; some can be sorted and filtered, and have buttons in their rows. */
import type { AppRowAction, AppSection, AppValue } from "@sluice/protocol";
import type { ComponentChildren, JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { NARROW_CHARS } from "../limits.ts";
import { arranged, type Order } from "../words/app-value.ts";
import { capital, count } from "../words/format.ts";
import { Value } from "./app-value.tsx";
import { Empty, Frame, Search } from "./bits.tsx";

export interface AppTableProps {
  section: AppSection & { kind: "table" };
  /** The button of an action in a row. */
  button(action: AppRowAction): ComponentChildren;
}

export function AppTable({ section, button }: AppTableProps): JSX.Element {
  const { title, columns, rows, isSortable = false, rowActions } = section;
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState<Order>();
  const onSearch = useCallback((text: string) => setFilter(text), []);
  if (rows.length === 0) return <Empty>Nothing yet.</Empty>;
  const places = arranged(rows, filter, order);
  const cells = (place: number) => ({
    row: rows[place] ?? [],
    actions: rowActions?.[place]?.map(button),
  });
  return (
    <>
      {isSortable && (
        <div class="tools">
          <Search label={`Filter ${title.toLowerCase()}`} value={filter} onSearch={onSearch} />
          <span class="muted" role="status">
            {count(places.length)} of {count(rows.length)}
          </span>
        </div>
      )}
      <Frame label={title}>
        <table class="cards app">
          <thead>
            <tr>
              {columns.map((column, i) => (
                // By their places: two columns may have one name.
                <ColumnHead
                  key={i}
                  title={capital(column)}
                  kind={i === 0 ? "" : numberClass(rows[0]?.[i])}
                  isDown={order?.column === i ? order.isDown : undefined}
                  onSort={isSortable ? () => setOrder(turned(order, i)) : undefined}
                />
              ))}
              {rowActions !== undefined && <th scope="col">Actions</th>}
            </tr>
          </thead>
          <tbody>
            {places.map((place) => (
              <Row key={place} columns={columns} {...cells(place)} />
            ))}
          </tbody>
        </table>
      </Frame>
    </>
  );
}

/** A click sorts, a second one turns the order round. */
function turned(order: Order | undefined, column: number): Order {
  return { column, isDown: order?.column === column ? !order.isDown : false };
}

interface ColumnHeadProps {
  title: string;
  kind: string;
  isDown: boolean | undefined;
  onSort: (() => void) | undefined;
}

function ColumnHead({ title, kind, isDown, onSort }: ColumnHeadProps): JSX.Element {
  if (onSort === undefined) {
    return (
      <th scope="col" class={kind}>
        {title}
      </th>
    );
  }
  const sorted = isDown === undefined ? "none" : isDown ? "descending" : "ascending";
  return (
    <th scope="col" class={kind} aria-sort={sorted}>
      <button type="button" class="sort" onClick={onSort}>
        {title}
        <span aria-hidden="true">{isDown === undefined ? "" : isDown ? " ↓" : " ↑"}</span>
      </button>
    </th>
  );
}

interface RowProps {
  columns: readonly string[];
  row: readonly AppValue[];
  actions: ComponentChildren[] | undefined;
}

function Row({ columns, row, actions }: RowProps): JSX.Element {
  return (
    <tr>
      {row.map((cell, column) =>
        column === 0 ? (
          <th key={0} scope="row">
            <Value value={cell} />
          </th>
        ) : (
          <td key={column} class={cellClass(cell)} data-label={columns[column]}>
            <Value value={cell} />
          </td>
        ),
      )}
      {actions !== undefined && (
        <td class="wide" data-label="Actions">
          <span class="actions">{actions}</span>
        </td>
      )}
    </tr>
  );
}

function numberClass(cell: AppValue | undefined): string {
  return typeof cell === "number" || (typeof cell === "object" && "bytes" in cell) ? "number" : "";
}

function cellClass(cell: AppValue): string {
  if (typeof cell === "object" && "limit" in cell) return "wide";
  return typeof cell === "string" && cell.length > NARROW_CHARS ? "wide" : numberClass(cell);
}
