# SPDX-License-Identifier: BSD-3-Clause
"""Sound files of ARFF, MULAN, CLUS and LIBSVM to be broken, and words of these formats."""

from __future__ import annotations

_DENSE = b"""% dense
@RELATION 'a b'
@attribute x numeric
@attribute 'y, z' REAL
@attribute sky {sunny, 'light rain', "it's\\tso"}
@attribute s string
@attribute c {no,yes}
@data
21.5, 3,sunny,one,no
-1e3,?,'light rain',"t,wo",yes
.5,0.30000000000000004,?,?,yes
"""
_SPARSE = b"""@relation sparse
@attribute a numeric
@attribute b {x,'y z',w}
@attribute id key
@attribute c {0,1}
@data
{0 2.5, 1 'y z',2 first, 3 1}
{ 2 second}
{1 ?, 2 'th,ird',3 1}
"""
_TREE = b"""@relation tree
@attribute id key
@attribute x numeric
@attribute class hierarchical a,a/b,c/d/e
@data
first,1,a/b@c
'second, too',2,a
x,1e-5,?
"""
_GRAPH = b"""@relation graph
@attribute x integer
@attribute class hierarchical root/a,a/b,a/c,b/d,c/d,root/alone
@data
1,d
2,alone@b
"""
_MEKA = b"""@relation 'music: -C 2'
@attribute sad {0,1}
@attribute 'so happy' {0,1}
@attribute x numeric
@data
0,1,0.25
1,1,7
"""
_XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="a"><label name="b"></label><label name="c &amp; d"/></label>
<label name="e"></label>
</labels>
"""
_SETS = b"1,3 1:0.5 4:-2e3\n 2:1  # none\n3 7:.125\n2,1\n"
_CLASSES = b"+1 1:0.5 2:2\n-1 1:1e-3\n+1 3:4\n"
_NUMBERS = b"1.5 1:0.5\n-2.25 1:1 2:2\n"

SEEDS: dict[str, list[bytes]] = {
    "arff": [_DENSE, _SPARSE, _TREE, _GRAPH, _MEKA],
    "libsvm": [_SETS, _CLASSES, _NUMBERS],
    "label list": [_XML],
}
TOKENS: dict[str, list[bytes]] = {
    "arff": [
        *(b"@data", b"@attribute", b"@relation", b"numeric", b"string", b"date", b"key"),
        *(b"hierarchical", b"root/", b"{0 1", b",{5}", b"-C 2", b"'a\\'b'", b"@end"),
    ],
    "libsvm": [b"1:1", b"0:1", b"999999999:1", b"qid:3", b":", b"1,2", b" 3:"],
    "label list": [b"<label", b"/>", b"name=", b"<!DOCTYPE x>", b"&amp;", b"&x;", b"</label>"],
}
