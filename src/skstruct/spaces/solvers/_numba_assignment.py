# SPDX-License-Identifier: BSD-3-Clause
"""Dense assignment problems one after another: reductions first, then shortest paths.

The scheme of Jonker and Volgenant (1987), with two changes that were measured: chains of
row reductions are cut short, because long ones lose on tied costs, and the scan of a
shortest path also finds the next minimum.
"""

import numpy as np

from skstruct._arrays import compiling as nb

LONGEST_CHAIN = 4  # row reductions that follow one another before the path search takes over


@nb.njit(cache=True, nogil=True)
def reduce_columns(cost, column_of, row_of, dual, best_row):
    """Set the dual of every column to its lowest cost row; match where that row is still free."""
    d = len(cost)
    for j in range(d):
        column_of[j] = row_of[j] = -1
        dual[j] = cost[0, j]
        best_row[j] = 0
    for i in range(1, d):
        for j in range(d):
            if cost[i, j] < dual[j]:
                dual[j] = cost[i, j]
                best_row[j] = i
    for j in range(d - 1, -1, -1):
        i = best_row[j]
        if column_of[i] < 0:
            column_of[i] = j
            row_of[j] = i


@nb.njit(cache=True, nogil=True)
def reduce_rows(cost, column_of, row_of, dual, free, n_free):
    """Give every free row its best column and lower that column's dual to the second best.

    Whoever held the column is free again. Returns how many rows are left free.
    """
    d = cost.shape[1]
    left = 0
    for k in range(n_free):
        i = free[k]
        for chain in range(LONGEST_CHAIN + 1):
            least, first, second, other = cost[i, 0] - dual[0], 0, np.inf, -1
            for j in range(1, d):
                reduced = cost[i, j] - dual[j]
                if reduced < second:
                    if reduced >= least:
                        second, other = reduced, j
                    else:
                        second, other, least, first = least, first, reduced, j
            holder = row_of[first]
            if holder >= 0 and least == second and row_of[other] < 0:
                first, holder = other, -1
            if second < np.inf:
                dual[first] -= second - least
            column_of[i] = first
            row_of[first] = i
            if holder < 0:
                break
            column_of[holder] = -1
            if second <= least or chain == LONGEST_CHAIN:
                free[left] = holder
                left += 1
                break
            i = holder
    return left


@nb.njit(cache=True, nogil=True)
def augment(start, cost, column_of, row_of, dual, distance, came_from, todo):
    """Match a free row along a shortest path of reduced costs (Dijkstra)."""
    d = cost.shape[1]
    least, at = np.inf, 0
    for j in range(d):
        todo[j] = j
        came_from[j] = start
        distance[j] = cost[start, j] - dual[j]
        if distance[j] < least or (distance[j] == least and row_of[j] < 0):
            least, at = distance[j], j
    open_columns = d  # those still open stand first in todo, the finished ones behind
    while True:
        column, length = todo[at], least
        if row_of[column] < 0:
            break
        open_columns -= 1
        todo[at] = todo[open_columns]
        todo[open_columns] = column
        i = row_of[column]
        slack = cost[i, column] - dual[column] - length
        least = np.inf
        for k in range(open_columns):
            j = todo[k]
            reached = cost[i, j] - dual[j] - slack
            if reached < distance[j]:
                distance[j] = reached
                came_from[j] = i
            if distance[j] < least or (distance[j] == least and row_of[j] < 0):
                least, at = distance[j], k
    for k in range(open_columns, d):
        dual[todo[k]] += distance[todo[k]] - length
    i = -1
    while i != start:  # flip the path
        i = came_from[column]
        row_of[column] = i
        column, column_of[i] = column_of[i], column


@nb.njit(cache=True, nogil=True)
def assign_rows(costs, columns):
    """Fill ``columns[n, i]`` with the column of row i in problem n; costs (n, d, d)."""
    d = costs.shape[1]
    row_of, came_from = np.empty(d, np.int64), np.empty(d, np.int64)
    todo, free = np.empty(d, np.int64), np.empty(d, np.int64)
    dual, distance = np.empty(d), np.empty(d)
    for n in range(len(costs)):
        cost, column_of = costs[n], columns[n]
        reduce_columns(cost, column_of, row_of, dual, came_from)
        n_free = 0
        for i in range(d):
            if column_of[i] < 0:
                free[n_free] = i
                n_free += 1
        for _ in range(2):
            n_free = reduce_rows(cost, column_of, row_of, dual, free, n_free)
        for k in range(n_free):
            augment(free[k], cost, column_of, row_of, dual, distance, came_from, todo)


@nb.njit(cache=True, nogil=True)
def assign_fewer_rows(costs, columns):
    """The same for fewer rows than columns, costs (n, r, d), columns (n, r).

    Duals of columns begin at zero and only fall where a column is matched, which it then stays:
    those that no row has cost nothing, as they must.
    """
    _, r, d = costs.shape
    row_of, came_from, todo = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    dual, distance, free = np.empty(d), np.empty(d), np.empty(r, np.int64)
    for n in range(len(costs)):
        cost, column_of = costs[n], columns[n]
        for j in range(d):
            dual[j], row_of[j] = 0.0, -1
        for i in range(r):
            column_of[i], free[i] = -1, i
        n_free = r
        for _ in range(2):
            n_free = reduce_rows(cost, column_of, row_of, dual, free, n_free)
        for k in range(n_free):
            augment(free[k], cost, column_of, row_of, dual, distance, came_from, todo)
